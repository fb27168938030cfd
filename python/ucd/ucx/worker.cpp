// The extension module ucd._ucx: bytes between processes by libucd-ucx, for ucd._ucx_engine.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <ucd_ucx.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace nb = nanobind;

namespace ucdpy {

namespace {

// The worker's active message id that the pipeline uses for itself.
constexpr uint16_t am_id = 17;

void check_ucx(ucs_status_t status, const char *function) {
    if (status != UCS_OK)
        throw std::runtime_error(std::string(function) + ": " + ucs_status_string(status));
}

void check_ucd(int rc, const char *sentence) {
    if (rc == UCD_ERR__INVALID_ARG) throw std::invalid_argument(sentence);
    if (rc != UCD_SUCCESS) throw std::runtime_error(sentence);
}

// Keys of libucd-ucx, such as ucd.ucx.direct.
class Keys {
public:
    explicit Keys(const nb::dict &values) {
        check_ucd(ucd_info_create(&info_), "no memory for hints");
        for (auto [key, value] : values) {
            const auto name = nb::cast<std::string>(key), text = nb::cast<std::string>(value);
            const int rc = ucd_info_set(info_, name.c_str(), text.c_str());
            if (rc != UCD_SUCCESS) (void)ucd_info_free(&info_);
            check_ucd(rc, ucd_last_error());
        }
    }
    ~Keys() { (void)ucd_info_free(&info_); }
    Keys(const Keys &) = delete;
    Keys &operator=(const Keys &) = delete;
    ucd_info_t get() const { return info_; }

private:
    ucd_info_t info_ = UCD_INFO__NULL;
};

// A context, a worker and a pipeline, and endpoints to peers, which are numbered. Every function
// may be called by any thread; none of them has the GIL.
class UcxWorker {
public:
    explicit UcxWorker(const nb::dict &values) {
        const Keys keys(values);
        check_ucd(ucd_init(UCD_INFO__NULL), "libucd cannot be initialised");
        try {
            open(keys.get());
        } catch (...) {
            close();
            throw;
        }
    }
    ~UcxWorker() { close(); }
    UcxWorker(const UcxWorker &) = delete;
    UcxWorker &operator=(const UcxWorker &) = delete;

    nb::bytes address() const {
        ucp_address_t *found = nullptr;
        std::size_t length = 0;
        check_ucx(ucp_worker_get_address(worker_, &found, &length), "ucp_worker_get_address");
        nb::bytes made(reinterpret_cast<const char *>(found), length);
        ucp_worker_release_address(worker_, found);
        return made;
    }

    void connect(uint64_t peer, const nb::bytes &address) {
        const std::string bytes(address.c_str(), address.size());
        const nb::gil_scoped_release released;
        const std::lock_guard lock(mutex_);
        if (peers_.count(peer) != 0) return;
        Peer &made = peers_[peer];
        made.worker = this;
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.address = reinterpret_cast<const ucp_address_t *>(bytes.data());
        params.err_handler = {on_error, &made};
        // Where no transport notices that a peer is gone, only the time-out does.
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        if (ucp_ep_create(worker_, &params, &made.endpoint) == UCS_OK) return;
        made.notices_failure = false;
        params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
        const ucs_status_t status = ucp_ep_create(worker_, &params, &made.endpoint);
        if (status != UCS_OK) peers_.erase(peer);
        check_ucx(status, "ucp_ep_create");
    }

    uint64_t send(uint64_t peer, uintptr_t at, uintptr_t bytes, uint64_t tag) {
        const nb::gil_scoped_release released;
        const std::lock_guard lock(mutex_);
        Peer &to = connected(peer);
        ucd_ucx_request_t request = UCD_UCX_REQUEST__NULL;
        check_ucd(ucd_ucx_send_nbx(pipeline_, to.endpoint, reinterpret_cast<const void *>(at),
                                   bytes, UCD_TYPE__BYTE, tag, nullptr, &request),
                  ucd_ucx_last_error());
        return remembered(request, to);
    }

    uint64_t receive(uint64_t peer, uintptr_t at, uintptr_t bytes, uint64_t tag) {
        const nb::gil_scoped_release released;
        const std::lock_guard lock(mutex_);
        Peer &from = connected(peer);
        ucd_ucx_request_t request = UCD_UCX_REQUEST__NULL;
        check_ucd(ucd_ucx_recv_nbx(pipeline_, reinterpret_cast<void *>(at), bytes, UCD_TYPE__BYTE,
                                   tag, ~uint64_t{0}, nullptr, &request),
                  ucd_ucx_last_error());
        return remembered(request, from);
    }

    // Makes progress until a request is complete. False: the time is over; it goes on.
    bool wait(uint64_t number, std::optional<double> seconds) {
        return until(seconds, [&] { return is_complete(number); });
    }

    // Makes progress until all that was sent is with the peers: a send is complete before. False:
    // the time is over.
    bool flush(std::optional<double> seconds) {
        ucs_status_ptr_t request = nullptr;
        {
            const nb::gil_scoped_release released;
            const std::lock_guard lock(mutex_);
            const ucp_request_param_t params{};
            request = ucp_worker_flush_nbx(worker_, &params);
        }
        if (!UCS_PTR_IS_PTR(request)) {
            check_ucx(UCS_PTR_STATUS(request), "ucp_worker_flush_nbx");
            return true;
        }
        ucs_status_t status = UCS_INPROGRESS;
        const bool is_over = until(seconds, [&] {
            status = ucp_request_check_status(request);
            return status != UCS_INPROGRESS;
        });
        ucp_request_free(request);
        if (is_over) check_ucx(status, "ucp_worker_flush_nbx");
        return is_over;
    }

private:
    struct Peer {
        UcxWorker *worker = nullptr;
        ucp_ep_h endpoint = nullptr;
        bool notices_failure = true;
        ucs_status_t lost = UCS_OK;
    };
    struct Pending {
        ucd_ucx_request_t request;
        const Peer *peer;
    };

    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    ucd_ucx_t pipeline_ = UCD_UCX__NULL;
    std::mutex mutex_;
    std::map<uint64_t, Peer> peers_; // endpoints' error handlers have the addresses of its members
    std::map<uint64_t, Pending> pending_;
    uint64_t last_ = 0;

    template <class Condition>
    bool until(std::optional<double> seconds, Condition condition) {
        using Clock = std::chrono::steady_clock;
        const auto began = Clock::now();
        const nb::gil_scoped_release released;
        for (unsigned tries = 1;; ++tries) {
            {
                const std::lock_guard lock(mutex_);
                ucd_ucx_progress(pipeline_);
                if (condition()) return true;
            }
            const std::chrono::duration<double> passed = Clock::now() - began;
            if (seconds && passed.count() > *seconds) return false;
            if (tries % 1024 == 0) {
                const nb::gil_scoped_acquire acquired;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                std::this_thread::yield();
            }
        }
    }

    void open(ucd_info_t keys) {
        ucp_params_t params{};
        params.field_mask = UCP_PARAM_FIELD_FEATURES;
        params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
        check_ucx(ucp_init(&params, nullptr, &context_), "ucp_init");
        ucp_worker_params_t worker_params{};
        worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        worker_params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
        check_ucx(ucp_worker_create(context_, &worker_params, &worker_), "ucp_worker_create");
        ucd_ucx_params_t params_of_object{};
        params_of_object.struct_size = sizeof params_of_object;
        params_of_object.am_id = am_id;
        params_of_object.families = UCD_UCX_TRANSFERS;
        check_ucd(ucd_ucx_create(worker_, &params_of_object, keys, &pipeline_),
                  ucd_ucx_last_error());
    }

    static void on_error(void *argument, ucp_ep_h endpoint, ucs_status_t status) {
        auto *peer = static_cast<Peer *>(argument);
        peer->lost = status;
        (void)ucd_ucx_lose_endpoint(peer->worker->pipeline_, endpoint, status);
    }

    Peer &connected(uint64_t peer) {
        const auto found = peers_.find(peer);
        if (found == peers_.end()) throw std::runtime_error("this peer is not connected");
        if (found->second.lost != UCS_OK)
            throw std::runtime_error(ucs_status_string(found->second.lost));
        return found->second;
    }

    uint64_t remembered(ucd_ucx_request_t request, const Peer &peer) {
        if (request == UCD_UCX_REQUEST__NULL) return 0;
        pending_[++last_] = {request, &peer};
        return last_;
    }

    // Throws if it failed. A receive that no message has matched has no endpoint: its peer's tells.
    bool is_complete(uint64_t number) {
        const auto found = pending_.find(number);
        if (found == pending_.end()) return true;
        const Pending pending = found->second;
        ucs_status_t status = ucd_ucx_request_check(pending.request, nullptr);
        if (status == UCS_INPROGRESS && pending.peer->lost != UCS_OK) {
            (void)ucd_ucx_cancel(pipeline_, pending.request);
            throw std::runtime_error(ucs_status_string(pending.peer->lost));
        }
        if (status == UCS_INPROGRESS) return false;
        const std::string sentence = status == UCS_OK ? "" : ucd_ucx_last_error();
        pending_.erase(found);
        ucd_ucx_request_free(pending.request);
        if (status != UCS_OK)
            throw std::runtime_error(sentence.empty() ? ucs_status_string(status) : sentence);
        return true;
    }

    void close_endpoint(Peer &peer) {
        (void)ucd_ucx_lose_endpoint(pipeline_, peer.endpoint, UCS_ERR_CANCELED);
        ucp_request_param_t params{};
        params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        params.flags = peer.notices_failure ? static_cast<unsigned>(UCP_EP_CLOSE_FLAG_FORCE) : 0;
        const ucs_status_ptr_t request = ucp_ep_close_nbx(peer.endpoint, &params);
        if (!UCS_PTR_IS_PTR(request)) return;
        while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
        ucp_request_free(request);
    }

    // What is not complete is cancelled.
    void close() {
        for (auto &[number, pending] : pending_) (void)ucd_ucx_cancel(pipeline_, pending.request);
        for (auto &[peer, made] : peers_)
            if (made.endpoint != nullptr) close_endpoint(made);
        for (auto &[number, pending] : pending_) {
            while (ucd_ucx_request_check(pending.request, nullptr) == UCS_INPROGRESS)
                ucd_ucx_progress(pipeline_);
            ucd_ucx_request_free(pending.request);
        }
        if (pipeline_ != UCD_UCX__NULL) (void)ucd_ucx_destroy(&pipeline_);
        if (worker_ != nullptr) ucp_worker_destroy(worker_);
        if (context_ != nullptr) ucp_cleanup(context_);
        (void)ucd_finalize();
    }
};

} // namespace

} // namespace ucdpy

NB_MODULE(_ucx, m) {
    using nb::arg;
    using ucdpy::UcxWorker;
    nb::set_leak_warnings(false);
    nb::class_<UcxWorker>(m, "UcxWorker")
        .def(nb::init<const nb::dict &>(), arg("keys"))
        .def("address", &UcxWorker::address)
        .def("connect", &UcxWorker::connect, arg("peer"), arg("address"))
        .def("send", &UcxWorker::send, arg("peer"), arg("at"), arg("bytes"), arg("tag"))
        .def("receive", &UcxWorker::receive, arg("peer"), arg("at"), arg("bytes"), arg("tag"))
        .def("wait", &UcxWorker::wait, arg("number"), arg("seconds").none())
        .def("flush", &UcxWorker::flush, arg("seconds").none());
}
