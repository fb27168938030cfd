#include "harness/ucx/peers.hpp"

#include "harness/ucd_peer.hpp"

#include <fmt/core.h>

#include <cstring>
#include <exception>
#include <sched.h>
#include <stdexcept>

namespace bench {
void check_ucx(ucs_status_t status, const char *what) {
    if (status != UCS_OK)
        throw std::runtime_error(fmt::format("{}: {}", what, ucs_status_string(status)));
}

void check_ucd_ucx(int rc) {
    if (rc != UCD_SUCCESS)
        throw std::runtime_error(fmt::format("{}: {}", ucd_strerror(rc), ucd_ucx_last_error()));
}

namespace {

void *allocate(std::size_t bytes, void *device) {
    try {
        return static_cast<Device *>(device)->allocate(MemoryKind::registered, bytes);
    } catch (const std::exception &) {
        return nullptr;
    }
}

void release(void *memory, std::size_t, void *device) {
    static_cast<Device *>(device)->release(MemoryKind::registered, static_cast<char *>(memory));
}

} // namespace

Peers::Peers(Board &board, unsigned seat, Device &device) : board_(board), seat_(seat) {
    ucp_params_t params = {};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
    check_ucx(ucp_init(&params, nullptr, &context_), "ucp_init");
    ucp_worker_params_t worker_params = {};
    check_ucx(ucp_worker_create(context_, &worker_params, &worker_), "ucp_worker_create");
    ucd_ucx_params_t object_params = {};
    object_params.struct_size = sizeof object_params;
    object_params.am_id = 1;
    object_params.families = UCD_UCX_TRANSFERS;
    if (device.is_gpu()) {
        object_params.allocate = allocate;
        object_params.release = release;
        object_params.memory_arg = &device;
    }
    // These processes may read each other. Whether they do is said for each transfer.
    const UcdInfo info("ucd.ucx.direct", "yes");
    check_ucd_ucx(ucd_ucx_create(worker_, &object_params, info.get(), &pipeline_));
    ucd_ucx_params_t rma_params = {};
    rma_params.struct_size = sizeof rma_params;
    rma_params.am_id = 2;
    rma_params.families = UCD_UCX_ONE_SIDED;
    check_ucd_ucx(ucd_ucx_create(worker_, &rma_params, UCD_INFO__NULL, &rma_));
    connect();
}

void Peers::connect() {
    ucp_address_t *address;
    std::size_t bytes;
    check_ucx(ucp_worker_get_address(worker_, &address, &bytes), "ucp_worker_get_address");
    board_.write(seat_, address, bytes);
    ucp_worker_release_address(worker_, address);
    meet();
    for (unsigned other = 0; other < seats(); ++other) {
        const std::vector<char> theirs = board_.read(other);
        ucp_ep_params_t params = {};
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.address = reinterpret_cast<const ucp_address_t *>(theirs.data());
        ucp_ep_h endpoint;
        check_ucx(ucp_ep_create(worker_, &params, &endpoint), "ucp_ep_create");
        endpoints_.push_back(endpoint);
    }
    meet();
}

Peers::~Peers() {
    // The other processes are not waited for if this one has failed: they will be killed.
    if (std::uncaught_exceptions() > 0) return;
    flush();
    meet();
    (void)ucd_ucx_destroy(&rma_);
    (void)ucd_ucx_destroy(&pipeline_);
    ucp_worker_destroy(worker_);
    ucp_cleanup(context_);
}

Peers::Window::Window(Peers &peers, std::size_t bytes) {
    void *data;
    check_ucd_ucx(ucd_ucx_window_allocate(peers.rma_, bytes, UCD_INFO__NULL, &data, &window_));
    data_ = static_cast<char *>(data);
}

Peers::Window::~Window() {
    (void)ucd_ucx_window_destroy(&window_);
}

void Peers::wait_raw(ucs_status_ptr_t request, const char *what, const Progress &progress) {
    if (!UCS_PTR_IS_PTR(request)) return check_ucx(UCS_PTR_STATUS(request), what);
    ucs_status_t status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        if ((progress ? progress() : ucp_worker_progress(worker_)) == 0)
            sched_yield(); // there may be more to run than cores
    ucp_request_free(request);
    check_ucx(status, what);
}

void Peers::flush() {
    const ucp_request_param_t param = {};
    wait_raw(ucp_worker_flush_nbx(worker_, &param), "ucp_worker_flush_nbx");
}

void Peers::send_raw(unsigned to, const void *buf, std::size_t count, ucp_datatype_t datatype,
                     ucp_tag_t tag) {
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    p.datatype = datatype;
    wait_raw(ucp_tag_send_nbx(endpoints_[to], buf, count, tag, &p), "ucp_tag_send_nbx");
}

void Peers::receive_raw(void *buf, std::size_t count, ucp_datatype_t datatype, ucp_tag_t tag,
                        const Progress &progress) {
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    p.datatype = datatype;
    wait_raw(ucp_tag_recv_nbx(worker_, buf, count, tag, ~ucp_tag_t{0}, &p), "ucp_tag_recv_nbx",
             progress);
}

namespace {

ucd_ucx_param_t param(ucd_info_t info) {
    static const UcdInfo not_direct("ucd.ucx.direct", "no");
    ucd_ucx_param_t p = {};
    p.struct_size = sizeof p;
    p.info = info == UCD_INFO__NULL ? not_direct.get() : info;
    return p;
}

} // namespace

void Peers::receive(unsigned from, void *buf, std::uintptr_t count, ucd_type_t type, ucp_tag_t tag,
                    ucd_info_t info) {
    const ucd_ucx_param_t p = param(info);
    ucd_ucx_request_t request;
    check_ucd_ucx(ucd_ucx_recv_nbx(pipeline_, buf, count, type, tag << 32 | from, ~ucp_tag_t{0}, &p,
                                   &request));
    keep(request, count, type);
}

void Peers::send(unsigned to, const void *buf, std::uintptr_t count, ucd_type_t type, ucp_tag_t tag,
                 ucd_info_t info) {
    const ucd_ucx_param_t p = param(info);
    ucd_ucx_request_t request;
    check_ucd_ucx(ucd_ucx_send_nbx(pipeline_, endpoints_[to], buf, count, type, tag << 32 | seat_,
                                   &p, &request));
    keep(request, count, type);
}

void Peers::keep(ucd_ucx_request_t request, std::uintptr_t count, ucd_type_t type) {
    if (request == UCD_UCX_REQUEST__NULL) return;
    std::uintptr_t bytes;
    check_ucd(ucd_get_size(type, &bytes));
    transfers_.push_back({request, bytes * count});
}

void Peers::finish() {
    for (const Transfer &transfer : transfers_) {
        ucd_ucx_result_t result;
        result.struct_size = sizeof result;
        ucs_status_t status;
        while ((status = ucd_ucx_request_check(transfer.request, &result)) == UCS_INPROGRESS)
            if (ucd_ucx_progress(pipeline_) == 0) sched_yield();
        if (status != UCS_OK)
            throw std::runtime_error(
                fmt::format("a transfer: {}{}{}", ucs_status_string(status),
                            result.ucd == UCD_SUCCESS ? "" : ", ",
                            result.ucd == UCD_SUCCESS ? "" : ucd_strerror(result.ucd)));
        if (result.bytes != transfer.bytes)
            throw std::runtime_error(fmt::format("a transfer has {} bytes in place of {}",
                                                 result.bytes, transfer.bytes));
        ucd_ucx_request_free(transfer.request);
    }
    transfers_.clear();
}

void Peers::meet() {
    board_.meet([this] { return ucd_ucx_progress(pipeline_); });
}

double Peers::agree(double number) {
    if (seat_ == 0) board_.write(0, &number, sizeof number);
    meet();
    std::memcpy(&number, board_.read(0).data(), sizeof number);
    meet();
    return number;
}

std::uint64_t Peers::sum(std::uint64_t number) {
    board_.write(seat_, &number, sizeof number);
    meet();
    std::uint64_t all = 0;
    for (unsigned other = 0; other < seats(); ++other) {
        std::memcpy(&number, board_.read(other).data(), sizeof number);
        all += number;
    }
    meet();
    return all;
}

} // namespace bench
