#include "ucx/ucx_sends.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace ucdtest {
namespace {

UcxSends *present = nullptr;

// UCX's own function, which the one of that name below hides.
template <class Function>
Function *real(Function *, const char *name) {
    void *const found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::abort();
    }
    return reinterpret_cast<Function *>(found);
}

} // namespace

UcxSends::UcxSends(ucp_ep_h only) : only_(only) {
    if (present != nullptr) std::abort();
    present = this;
}

UcxSends::~UcxSends() {
    if (!held_.empty()) std::abort();
    present = nullptr;
}

void UcxSends::end_held(ucs_status_t ended_with) {
    for (const auto ended = std::exchange(held_, {}); const auto &request : ended) {
        // Known as its own until the callback has freed it.
        held_.push_back(std::make_unique<Request>(*request));
        Request *const own = held_.back().get();
        own->callback(own, ended_with, own->user_data);
        if (!own->freed) std::abort(); // UCX would keep it for ever
        held_.pop_back();
    }
}

// Called instead of the library's callback.
void UcxSends::end_fetch(void *request, ucs_status_t, std::size_t length, void *fetch) {
    const std::unique_ptr<Fetch> own(static_cast<Fetch *>(fetch));
    own->callback(request, own->ends_with, length, own->user_data);
}

ucs_status_ptr_t UcxSends::fetch(ucp_worker_h worker, void *data, void *buffer, std::size_t count,
                                 const ucp_request_param_t &param) {
    ++fetches;
    if (fetched != UCS_OK) {
        ucp_am_data_release(worker, data);
        return UCS_STATUS_PTR(fetched);
    }
    auto own = std::make_unique<Fetch>(Fetch{param.cb.recv_am, param.user_data, fetched_later});
    ucp_request_param_t changed = param;
    changed.cb.recv_am = end_fetch;
    changed.user_data = own.get();
    const ucs_status_ptr_t request =
        real(ucp_am_recv_data_nbx, "ucp_am_recv_data_nbx")(worker, data, buffer, count, &changed);
    if (!UCS_PTR_IS_PTR(request)) return UCS_STATUS_PTR(fetched_later);
    (void)own.release(); // it is end_fetch's
    return request;
}

bool UcxSends::frees(const void *request) {
    const auto found = std::find_if(held_.begin(), held_.end(),
                                    [request](const auto &own) { return own.get() == request; });
    if (found == held_.end()) return false;
    (*found)->freed = true;
    return true;
}

bool UcxSends::takes(const Call &call, const ucp_request_param_t &param, ucs_status_ptr_t &result) {
    if (only_ != nullptr && call.ep != only_) return false;
    calls.push_back(call);
    if (on_call != nullptr) on_call();
    Fate fate = rest;
    if (!next.empty()) {
        fate = next.front();
        next.pop_front();
    }
    if (fate == Fate::sent) return false;
    result = UCS_STATUS_PTR(status);
    if (fate == Fate::held) {
        held_.push_back(std::make_unique<Request>(Request{param.cb.send, param.user_data}));
        result = held_.back().get();
    }
    return true;
}

} // namespace ucdtest

using ucdtest::present;
using ucdtest::real;

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_length,
                                 const void *buffer, size_t count,
                                 const ucp_request_param_t *param) {
    ucs_status_ptr_t result;
    if (present != nullptr && present->takes({ep, false, header_length, count}, *param, result))
        return result;
    static const auto next = real(ucp_am_send_nbx, "ucp_am_send_nbx");
    return next(ep, id, header, header_length, buffer, count, param);
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
                                  const ucp_request_param_t *param) {
    ucs_status_ptr_t result;
    if (present != nullptr && present->takes({ep, true, 0, count}, *param, result)) return result;
    static const auto next = real(ucp_tag_send_nbx, "ucp_tag_send_nbx");
    return next(ep, buffer, count, tag, param);
}

ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *data, void *buffer, size_t count,
                                      const ucp_request_param_t *param) {
    if (present != nullptr && (present->fetched != UCS_OK || present->fetched_later != UCS_OK))
        return present->fetch(worker, data, buffer, count, *param);
    static const auto next = real(ucp_am_recv_data_nbx, "ucp_am_recv_data_nbx");
    return next(worker, data, buffer, count, param);
}

void ucp_request_free(void *request) {
    if (present != nullptr && present->frees(request)) return;
    static const auto next = real(ucp_request_free, "ucp_request_free");
    next(request);
}
