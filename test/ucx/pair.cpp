#include "ucx/pair.hpp"

#include "support/spared_allocations.hpp"
#include "ucx/deadline.hpp"

#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace ucdtest {

void ucx(ucs_status_t status, const char *what) {
    if (status != UCS_OK)
        throw std::runtime_error(std::string(what) + ": " + ucs_status_string(status));
}

void ok(int rc, const char *what) {
    if (rc != UCD_SUCCESS)
        throw std::runtime_error(std::string(what) + ": " + ucd_ucx_last_error());
}

std::string to_hex(const std::string &bytes) {
    std::string digits;
    for (const char c : bytes)
        for (const int shift : {4, 0}) digits += "0123456789abcdef"[c >> shift & 15];
    return digits;
}

std::string from_hex(const std::string &digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    return bytes;
}

void *MemoryUse::allocate(std::size_t bytes, void *argument) {
    auto &use = *static_cast<MemoryUse *>(argument);
    if (use.until_failure == 0) return nullptr;
    if (use.until_failure > 0) --use.until_failure;
    use.most = std::max(use.most, ++use.live);
    return std::malloc(bytes);
}

void MemoryUse::release(void *memory, std::size_t, void *argument) {
    --static_cast<MemoryUse *>(argument)->live;
    std::free(memory);
}

namespace {

void on_event(const ucd_ucx_event_t *event, void *argument) {
    const SpareAllocations spare; // a user who throws is not what is tested
    static_cast<Side *>(argument)->events.push_back(*event);
}

void on_error(void *argument, ucp_ep_h ep, ucs_status_t status) {
    auto *side = static_cast<Side *>(argument);
    side->lost = status;
    if (side->pipeline != nullptr) (void)ucd_ucx_lose_endpoint(side->pipeline, ep, status);
}

// Tests that are to run with another UCX than that of the headers must not find the usual one.
void check_version() {
    const char *wanted = std::getenv("UCD_TEST_UCX_VERSION");
    const std::string found = ucp_get_version_string();
    if (wanted != nullptr && !found.starts_with(wanted + std::string(".")))
        throw std::runtime_error("this UCX is " + found + ", and not " + wanted);
}

} // namespace

Side::Side(ucs_thread_mode_t mode) {
    check_version();
    ucp_params_t params = {};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
    ucx(ucp_init(&params, nullptr, &context), "ucp_init");
    ucp_worker_params_t worker_params = {};
    worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker_params.thread_mode = mode;
    ucx(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
}

void Side::open_pipeline(ucd_info_t info) {
    ucd_ucx_params_t params = {};
    params.struct_size = sizeof params;
    params.am_id = am_id;
    params.families = UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED;
    params.allocate = gives_memory ? MemoryUse::allocate : nullptr;
    params.release = gives_memory ? MemoryUse::release : nullptr;
    params.memory_arg = &memory;
    params.trace = on_event;
    params.trace_arg = this;
    params.unresponsive = note_unresponsive;
    params.unresponsive_arg = this;
    ok(ucd_ucx_create(worker, &params, info, &pipeline), "ucd_ucx_create");
}

std::string Side::address() const {
    ucp_address_t *address;
    std::size_t bytes;
    ucx(ucp_worker_get_address(worker, &address, &bytes), "ucp_worker_get_address");
    std::string text(reinterpret_cast<const char *>(address), bytes);
    ucp_worker_release_address(worker, address);
    return text;
}

void Side::connect(const std::string &address) {
    ucp_ep_params_t params = {};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t *>(address.data());
    // Shared memory has none in UCX 1.13, unless a setting asks for it.
    const char *transports = std::getenv("UCX_TLS");
    const char *setting = std::getenv("UCX_MM_ERROR_HANDLING");
    can_fail = transports == nullptr || std::string(transports).find("tcp") != std::string::npos ||
               (setting != nullptr && *setting == 'y');
    params.err_mode = can_fail ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    params.err_handler = {on_error, this};
    ucx(ucp_ep_create(worker, &params, &ep), "ucp_ep_create");
}

void Side::lose_endpoint(ucp_ep_h which) {
    ok(ucd_ucx_lose_endpoint(pipeline, which != nullptr ? which : ep, UCS_ERR_CONNECTION_RESET),
       "ucd_ucx_lose_endpoint");
}

void Side::close_endpoint() {
    if (ep == nullptr) return;
    if (pipeline != nullptr)
        ok(ucd_ucx_lose_endpoint(pipeline, ep, UCS_ERR_CANCELED), "ucd_ucx_lose_endpoint");
    ucp_request_param_t params = {};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = can_fail ? static_cast<unsigned>(UCP_EP_CLOSE_FLAG_FORCE) : 0;
    const ucs_status_ptr_t request = ucp_ep_close_nbx(ep, &params);
    ep = nullptr;
    if (!UCS_PTR_IS_PTR(request)) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
    ucp_request_free(request);
}

Side::~Side() {
    close_endpoint();
    if (pipeline != nullptr) {
        ucd_ucx_progress(pipeline);
        if (ucd_ucx_destroy(&pipeline) != UCD_SUCCESS) {
            std::fprintf(stderr, "%s\n", ucd_ucx_last_error());
            std::abort();
        }
    }
    if (memory.live != 0) {
        std::fprintf(stderr, "%zu blocks of chunk memory leak\n", memory.live);
        std::abort();
    }
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

TwoSides::TwoSides(std::initializer_list<std::pair<std::string, std::string>> keys,
                   ucs_thread_mode_t mode)
    : a(mode), b(mode) {
    const Keys info(keys);
    a.open_pipeline(info.get());
    b.open_pipeline(info.get());
    a.connect(b.address());
    b.connect(a.address());
}

void TwoSides::progress() {
    ucd_ucx_progress(a.pipeline);
    ucd_ucx_progress(b.pipeline);
}

void TwoSides::until(const std::function<bool()> &condition) {
    Deadline limit(30);
    while (!condition()) {
        progress();
        if (limit.has_passed()) throw std::runtime_error("it takes too long");
    }
}

ucd_ucx_param_t Outcome::param(ucd_info_t info) {
    ucd_ucx_param_t p = {};
    p.struct_size = sizeof p;
    p.info = info;
    p.user_data = this;
    p.callback = [](ucd_ucx_request_t, const ucd_ucx_result_t *its_result, void *outcome) {
        static_cast<Outcome *>(outcome)->result = *its_result;
        ++static_cast<Outcome *>(outcome)->calls;
    };
    return p;
}

void start_send(Side &side, const Data &data, Outcome &o, ucp_tag_t tag, ucd_info_t info) {
    const ucd_ucx_param_t p = o.param(info);
    ok(ucd_ucx_send_nbx(side.pipeline, side.ep, data.address, data.count, data.type, tag, &p,
                        &o.request),
       "ucd_ucx_send_nbx");
    o.started();
}

void start_receive(Side &side, const Data &data, Outcome &o, ucp_tag_t tag, ucd_info_t info,
                   ucp_tag_t mask) {
    const ucd_ucx_param_t p = o.param(info);
    ok(ucd_ucx_recv_nbx(side.pipeline, data.room(), data.count, data.type, tag, mask, &p,
                        &o.request),
       "ucd_ucx_recv_nbx");
}

void start_active(Side &side, const Data &data, Outcome &o, const std::string &header, unsigned id,
                  ucd_info_t info) {
    const ucd_ucx_param_t p = o.param(info);
    ok(ucd_ucx_am_send_nbx(side.pipeline, side.ep, id, header.data(), header.size(), data.address,
                           data.count, data.type, &p, &o.request),
       "ucd_ucx_am_send_nbx");
    o.started();
}

void start_receive_active(Side &side, ucd_ucx_data_t announced, const Data &data, Outcome &o,
                          ucd_info_t info) {
    const ucd_ucx_param_t p = o.param(info);
    ok(ucd_ucx_am_recv_nbx(side.pipeline, announced, data.room(), data.count, data.type, &p,
                           &o.request),
       "ucd_ucx_am_recv_nbx");
}

Told::Told(Side &side, bool drops) : side_(side), drops_(drops) {
    const auto note = [](void *arg, unsigned number, const void *head, size_t length,
                         ucd_ucx_data_t what, uint64_t of, ucp_ep_h ep) {
        auto &told = *static_cast<Told *>(arg);
        ++told.times;
        told.id = number;
        told.header.assign(static_cast<const char *>(head), length);
        told.bytes = of;
        told.reply_ep = ep;
        if (told.drops_)
            ok(ucd_ucx_am_drop(told.side_.pipeline, what), "ucd_ucx_am_drop");
        else
            told.data = what;
    };
    ok(ucd_ucx_am_set_handler(side.pipeline, note, this), "ucd_ucx_am_set_handler");
}

} // namespace ucdtest
