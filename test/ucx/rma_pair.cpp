#include "ucx/rma_pair.hpp"

#include "ucx/deadline.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace ucdtest {
namespace {

[[noreturn]] void give_up(const char *what) {
    std::fprintf(stderr, "%s: %s\n", what, ucd_ucx_last_error());
    std::abort();
}

} // namespace

const std::initializer_list<std::pair<std::string, std::string>> small_chunks = {
    {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {"ucd.ucx.depth", "3"}};

RmaSide::RmaSide(ucd_info_t info, ucs_thread_mode_t mode) : side(mode) {
    create(info);
}

void RmaSide::create(ucd_info_t info) {
    ucd_ucx_params_t params = {};
    params.struct_size = sizeof params;
    params.am_id = am_id;
    params.families = UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED;
    params.allocate = MemoryUse::allocate;
    params.release = MemoryUse::release;
    params.memory_arg = &side.memory;
    params.unresponsive = Side::note_unresponsive;
    params.unresponsive_arg = &side;
    ok(ucd_ucx_create(side.worker, &params, info, &rma), "ucd_ucx_create");
}

RmaSide::~RmaSide() {
    close_endpoint();
    if (ucd_ucx_destroy(&rma) != UCD_SUCCESS) give_up("ucd_ucx_destroy");
}

void RmaSide::progress() {
    ucd_ucx_progress(rma);
    if (side.lost == UCS_OK || told_ || side.ep == nullptr) return;
    told_ = true;
    ok(ucd_ucx_lose_endpoint(rma, side.ep, side.lost), "ucd_ucx_lose_endpoint");
}

void RmaSide::lose_endpoint() {
    ok(ucd_ucx_lose_endpoint(rma, ep(), UCS_ERR_CONNECTION_RESET), "ucd_ucx_lose_endpoint");
}

void RmaSide::close_endpoint() {
    if (side.ep == nullptr) return;
    ok(ucd_ucx_lose_endpoint(rma, side.ep, UCS_ERR_CANCELED), "ucd_ucx_lose_endpoint");
    side.close_endpoint();
    for (int i = 0; i < 10; ++i) ucd_ucx_progress(rma);
    side.lost = UCS_OK;
    told_ = false;
}

RmaPair::RmaPair(std::initializer_list<std::pair<std::string, std::string>> keys,
                 ucs_thread_mode_t mode)
    : a(Keys(keys).get(), mode), b(Keys(keys).get(), mode) {
    a.side.connect(b.side.address());
    b.side.connect(a.side.address());
}

void RmaPair::progress() {
    a.progress();
    b.progress();
}

void RmaPair::until(const std::function<bool()> &condition) {
    Deadline limit(30);
    while (!condition()) {
        progress();
        if (limit.has_passed()) throw std::runtime_error("it takes too long");
    }
}

void RmaPair::flush() {
    Outcome flushed;
    ok(ucd_ucx_flush_nbx(a.rma, nullptr, nullptr, &flushed.request), "ucd_ucx_flush_nbx");
    if (flushed.request == UCD_UCX_REQUEST__NULL) return;
    until([&] { return ucd_ucx_request_check(flushed.request, nullptr) != UCS_INPROGRESS; });
    ucx(ucd_ucx_request_check(flushed.request, nullptr), "a flush");
}

Window::Window(RmaSide &side, void *base, std::size_t bytes, ucd_info_t info) : side_(side) {
    ok(ucd_ucx_window_create(side.rma, base, bytes, info, &handle), "ucd_ucx_window_create");
    ok(ucd_ucx_window_key(handle, &key_), "ucd_ucx_window_key");
}

void destroy_window(ucd_ucx_window_t &window, const std::function<void()> &progress) {
    Deadline limit(30);
    while (ucd_ucx_window_destroy(&window) != UCD_SUCCESS) {
        if (limit.has_passed()) give_up("ucd_ucx_window_destroy");
        progress();
    }
}

Window::~Window() {
    if (handle != nullptr) destroy_window(handle, [&] { side_.progress(); });
}

void start_put(RmaSide &side, const Data &origin, const Place &target, Outcome &o,
               ucd_info_t info) {
    const ucd_ucx_param_t p = o.param(info);
    ok(ucd_ucx_put_nbx(side.rma, side.ep(), origin.address, origin.count, origin.type, target.key,
                       target.displacement, target.count, target.type, &p, &o.request),
       "ucd_ucx_put_nbx");
}

void start_get(RmaSide &side, const Data &origin, const Place &target, Outcome &o,
               ucd_info_t info) {
    const ucd_ucx_param_t p = o.param(info);
    ok(ucd_ucx_get_nbx(side.rma, side.ep(), origin.room(), origin.count, origin.type, target.key,
                       target.displacement, target.count, target.type, &p, &o.request),
       "ucd_ucx_get_nbx");
}

void start_accumulate(RmaSide &side, const Data &origin, const Place &target, ucd_op_t op,
                      Outcome &o, ucd_info_t info) {
    const ucd_ucx_param_t p = o.param(info);
    ok(ucd_ucx_accumulate_nbx(side.rma, side.ep(), origin.address, origin.count, origin.type,
                              target.key, target.displacement, target.count, target.type, op, &p,
                              &o.request),
       "ucd_ucx_accumulate_nbx");
}

void start_get_accumulate(RmaSide &side, const Data &origin, const Data &result,
                          const Place &target, ucd_op_t op, Outcome &o, ucd_info_t info) {
    const ucd_ucx_param_t p = o.param(info);
    ok(ucd_ucx_get_accumulate_nbx(side.rma, side.ep(), origin.address, origin.count, origin.type,
                                  result.room(), result.count, result.type, target.key,
                                  target.displacement, target.count, target.type, op, &p,
                                  &o.request),
       "ucd_ucx_get_accumulate_nbx");
}

} // namespace ucdtest
