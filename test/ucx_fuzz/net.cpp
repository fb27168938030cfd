#include "net.hpp"

#include "contents.hpp"

#include <cstdlib>

namespace ucdfuzz {
namespace {

void check(ucs_status_t status, const char *what) {
    if (status != UCS_OK)
        found_fatal("setup", std::string(what) + ": " + ucs_status_string(status));
}

void ignore_error(void *, ucp_ep_h, ucs_status_t) {}

// Of a mark; no family of messages has it.
constexpr unsigned mark_am = 9;

} // namespace

Net::Net() {
    const char *transports = std::getenv("UCX_TLS");
    can_fail_ = transports != nullptr && std::string(transports).find("tcp") != std::string::npos;
    ucp_params_t params = {};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
    check(ucp_init(&params, nullptr, &context_), "ucp_init");
    for (End &end : ends_) {
        ucp_worker_params_t worker_params = {};
        worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        worker_params.thread_mode = UCS_THREAD_MODE_SINGLE;
        check(ucp_worker_create(context_, &worker_params, &end.worker), "ucp_worker_create");
        ucp_address_t *address;
        std::size_t bytes;
        check(ucp_worker_get_address(end.worker, &address, &bytes), "ucp_worker_get_address");
        end.address.assign(reinterpret_cast<const char *>(address), bytes);
        ucp_worker_release_address(end.worker, address);
        ucp_am_handler_param_t handler = {};
        handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                             UCP_AM_HANDLER_PARAM_FIELD_ARG;
        handler.id = mark_am;
        handler.cb = [](void *marks, const void *, std::size_t, void *, std::size_t,
                        const ucp_am_recv_param_t *) {
            --*static_cast<int *>(marks);
            return UCS_OK;
        };
        handler.arg = &marks_;
        check(ucp_worker_set_am_recv_handler(end.worker, &handler),
              "ucp_worker_set_am_recv_handler");
    }
}

Net::~Net() {
    close_all();
    for (const End &end : ends_) ucp_worker_destroy(end.worker);
    ucp_cleanup(context_);
}

ucp_ep_h Net::make_endpoint(int from, int to) {
    ucp_ep_params_t params = {};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t *>(ends_[index(to)].address.data());
    params.err_mode = can_fail_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    params.err_handler = {ignore_error, nullptr};
    ucp_ep_h ep;
    check(ucp_ep_create(worker(from), &params, &ep), "ucp_ep_create");
    return ep;
}

void Net::connect(int a, int b) {
    for (const auto &[from, to] : {std::pair(a, b), {b, a}})
        if (ep(from, to) == nullptr) ends_[index(from)].eps[index(to)] = make_endpoint(from, to);
}

void Net::mark(int from, int to) {
    if (ep(from, to) == nullptr) return;
    ucp_request_param_t params = {};
    params.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY; // as all that it follows
    params.user_data = &marks_;
    params.cb.send = [](void *request, ucs_status_t status, void *marks) {
        if (status != UCS_OK) --*static_cast<int *>(marks); // its endpoint has failed
        ucp_request_free(request);
    };
    const ucs_status_ptr_t request =
        ucp_am_send_nbx(ep(from, to), mark_am, nullptr, 0, nullptr, 0, &params);
    if (!UCS_PTR_IS_ERR(request)) ++marks_;
}

void Net::deliver(int a, int b) {
    mark(a, b);
    mark(b, a);
    for (int i = 0; marks_ > 0; ++i) {
        if (i > 1000000) found_fatal(finding::stuck, "a message does not arrive");
        progress();
    }
}

void Net::deliver_all() {
    for (int a = 0; a < honest_peers; ++a)
        for (int b = a + 1; b < peers; ++b) deliver(a, b);
}

void *Net::start_closing(int from, int to) {
    ucp_ep_h &ep = ends_[index(from)].eps[index(to)];
    if (ep == nullptr) return nullptr;
    ucp_request_param_t params = {};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = can_fail_ ? static_cast<unsigned>(UCP_EP_CLOSE_FLAG_FORCE) : 0;
    const ucs_status_ptr_t request = ucp_ep_close_nbx(ep, &params);
    ep = nullptr;
    return UCS_PTR_IS_PTR(request) ? request : nullptr;
}

void Net::close(int a, int b) {
    for (void *request : {start_closing(a, b), start_closing(b, a)}) {
        if (request == nullptr) continue;
        for (int i = 0; ucp_request_check_status(request) == UCS_INPROGRESS; ++i) {
            if (i > 1000000) found_fatal(finding::stuck, "an endpoint does not close");
            progress();
        }
        ucp_request_free(request);
    }
}

void Net::connect_all() {
    for (int a = 0; a < honest_peers; ++a)
        for (int b = a + 1; b < peers; ++b) connect(a, b);
}

void Net::close_all() {
    for (int a = 0; a < honest_peers; ++a)
        for (int b = a + 1; b < peers; ++b) close(a, b);
}

void Net::progress() {
    for (const End &end : ends_) ucp_worker_progress(end.worker);
}

void Net::drain(int peer) {
    for (;;) {
        ucp_tag_recv_info_t info;
        const ucp_tag_message_h message = ucp_tag_probe_nb(worker(peer), 0, 0, 1, &info);
        if (message == nullptr) return;
        std::string to(info.length, '\0');
        ucp_request_param_t p = {};
        p.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        const ucs_status_ptr_t request =
            ucp_tag_msg_recv_nbx(worker(peer), to.data(), to.size(), message, &p);
        if (!UCS_PTR_IS_PTR(request)) continue;
        while (ucp_request_check_status(request) == UCS_INPROGRESS) progress();
        ucp_request_free(request);
    }
}

} // namespace ucdfuzz
