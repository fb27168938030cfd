// The operations that were started in this process, and flushes, which wait for them.
#pragma once

#include "rma/rma_operation.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ucd_ucx::rma {

class OneSided;

// An endpoint at its origin: what the target is known to have, and operations that wait. A null
// pointer in `held` is a fence; operations behind it are held back.
struct EndpointOrder {
    // Beyond these limits nothing is remembered, and content ids and keys are sent.
    static constexpr std::size_t max_types = 4096, max_windows = 1024;

    // Name the window and the type in the request: by handle and index if the target knows these.
    void name_window(const ContentId &window, Request &request);
    // Returns the use that the request introduces; null if it introduces none. It stays valid while
    // the operation is in progress and the endpoint has not failed.
    TypeUse *name_type(const PeerType &type, std::size_t max_header, Request &request);
    // An answer has shown the window's handle, unless it is 0.
    void learn(const ContentId &window, WindowHandle handle);
    void forget();
    uint64_t held_operations() const {
        return held.size() -
               static_cast<std::size_t>(std::count(held.begin(), held.end(), nullptr));
    }

    ucp_ep_h ep = nullptr;
    uint64_t active = 0; // the number of operations that were sent
    std::deque<std::unique_ptr<RmaOperation>> held;
    std::unordered_map<ContentId, TypeUse, HashOfId> types;
    std::unordered_map<ContentId, WindowHandle, HashOfId> windows; // 0: not known yet

private:
    // The last ones used, which are found without hashing.
    ContentId last_type_ = {}, last_window_ = {};
    TypeUse *last_type_use_ = nullptr;
    WindowHandle *last_handle_ = nullptr;
};

// Waits for the operations to one endpoint, or to all, that were started before it.
class Flush final : public ucd_ucx_request {
public:
    // `started`: the number of operations so far, of which this one waits for `unfinished`.
    Flush(ucp_ep_h ep, uint64_t started, uint64_t unfinished)
        : ep_(ep), started_(started), unfinished_(unfinished) {}
    Status set(const ucd_ucx_param_t *param) {
        ucd_info_t info;
        return ucd_ucx_request::set({}, param, info);
    }
    void cancel() override {}
    bool awaits(const RmaOperation &operation) const {
        return operation.order <= started_ && (ep_ == nullptr || operation.lane.ep == ep_);
    }
    // Returns true for the last one.
    bool one_ended(const Result &result) {
        if (failure_.status == UCS_OK) failure_ = {result.status, result.ucd, 0, 0};
        return --unfinished_ == 0;
    }
    const Result &failure() const { return failure_; }

private:
    const ucp_ep_h ep_; // null: all
    const uint64_t started_;
    uint64_t unfinished_;
    Result failure_; // of the first operation that failed
};

// The caller holds the lock.
class Origin {
public:
    Origin(OneSided &rma, uint64_t types_limit);

    Status start(const RmaArguments &arguments, ucd_ucx_request_t *request);
    Status flush(ucp_ep_h ep, const ucd_ucx_param_t *param, ucd_ucx_request_t *request);
    void fence(ucp_ep_h ep);

    // The operation with this number; null if there is none to the endpoint. So an answer counts
    // only if it comes from its target.
    RmaOperation *find(uint32_t number, ucp_ep_h ep) const {
        RmaOperation *const operation = sent_.empty() ? nullptr : sent_[place_of(number)];
        const bool is_it =
            operation != nullptr && operation->number == number && operation->lane.ep == ep;
        return is_it ? operation : nullptr;
    }
    void on_endpoint_failed(ucp_ep_h ep, ucs_status_t status);
    // Ends operations that have taken too long.
    void check_times() {
        if (!timed_.empty()) check_timed();
    }
    bool is_idle() const { return unfinished(nullptr) == 0; }
    // Whether an operation on the window was sent to this endpoint.
    bool uses(ucp_ep_h ep, const ContentId &window) const {
        const auto lane = lanes_.find(ep);
        return lane != lanes_.end() && lane->second.windows.contains(window);
    }

    // For use by operations:
    OneSided &rma;
    TypesOfOrigin types;
    Status find_type(ucd_type_t handle, TypePtr &type);
    void ended(RmaOperation &operation, const Result &result);

private:
    std::size_t place_of(uint32_t number) const { return number & (sent_.size() - 1); }
    // Does the operation, or gives it a number and sends it. If this fails, nothing has changed.
    Status send(RmaOperation &operation) noexcept;
    void enter(RmaOperation &operation);
    void leave(RmaOperation &operation);
    // The number of operations that are not complete; null: to all endpoints.
    uint64_t unfinished(ucp_ep_h ep) const;

    EndpointOrder &lane_of(ucp_ep_h ep) {
        return last_lane_ != nullptr && ep == last_lane_->ep ? *last_lane_ : look_up(ep);
    }
    EndpointOrder &look_up(ucp_ep_h ep);
    void check_timed();
    void advance(EndpointOrder &lane);
    void forget_if_idle(ucp_ep_h ep);
    void complete(RmaOperation &operation, const Result &result);

    // The operations that were sent, by the low bits of their numbers. Its size is a power of two,
    // and at least half of it is free.
    std::vector<RmaOperation *> sent_;
    uint64_t sent_now_ = 0; // the number of these
    uint32_t next_number_;  // random at first: late answers may be those to an earlier object
    uint64_t started_ = 0;  // the number of operations so far
    std::vector<Flush *> flushes_;   // that wait
    LinkedList<RmaOperation> timed_; // sent operations that have a time limit
    std::unordered_map<ucp_ep_h, EndpointOrder> lanes_;
    EndpointOrder *last_lane_ = nullptr;
    // The last type that was found. Operations that end give their references to it back, because
    // a new one takes an atomic operation.
    ucd_type_t last_handle_ = UCD_TYPE__NULL;
    const PeerType *last_type_ = nullptr;
    std::vector<TypePtr> references_; // has its full capacity
};

} // namespace ucd_ucx::rma
