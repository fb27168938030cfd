// The operations that were started in this process.
#pragma once

#include "rma/rma_operation.h"

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ucd_ucx::rma {

class OneSided;

// An endpoint at its origin: what the target is known to have, and operations that wait. A null
// pointer in `held` is a fence; operations behind it are held back.
struct EndpointOrder {
    struct TypeUse {
        uint32_t index = Request::no_index;
        bool confirmed = false; // an answer has confirmed that the index may be used
    };
    // Beyond these limits nothing is remembered, and content ids and keys are sent.
    static constexpr std::size_t max_types = 4096, max_windows = 1024;

    // Name the window and the type in the request: by handle and index if the target knows these.
    void name_window(const ContentId &window, Request &request);
    void name_type(const PeerType &type, std::size_t max_header, Request &request);
    // An answer has shown the window's handle, unless it is 0.
    void learn(const ContentId &window, WindowHandle handle);
    // An answer has shown that the target knows the type by its index.
    void learn(const PeerType &type);
    void forget();

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
        const uint32_t index = number & place_mask;
        if (index >= places_.size() || places_[index].number != number) return nullptr;
        RmaOperation *const operation = places_[index].operation;
        return operation != nullptr && operation->lane.ep == ep ? operation : nullptr;
    }
    // The message of that operation could not be sent, or its answer was lost here.
    void take_failure(uint32_t number, ucp_ep_h ep, ucs_status_t status, int ucd);
    void on_endpoint_failed(ucp_ep_h ep, ucs_status_t status);
    // Ends operations that have taken too long.
    void check_times() {
        if (!timed_.empty()) check_timed();
    }
    bool is_idle() const { return outstanding_ == 0 && held_ == 0; }
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
    // An operation that was sent. Its number consists of the place in the table and the number of
    // earlier uses of the place.
    struct Place {
        RmaOperation *operation = nullptr;
        uint32_t number = 0;
        uint32_t next_free = 0;
    };
    static constexpr uint32_t places_bits = 24, place_mask = (uint32_t{1} << places_bits) - 1;
    // Does the operation, or gives it a number and sends it. If this fails, nothing has changed.
    Status send(RmaOperation &operation) noexcept;
    Status enter(RmaOperation &operation);
    Status add_places();
    void free_place(uint32_t index);
    void leave(RmaOperation &operation);
    std::vector<RmaOperation *> operations_of(ucp_ep_h ep) const; // null: of all endpoints

    EndpointOrder &lane_of(ucp_ep_h ep) {
        return last_lane_ != nullptr && ep == last_lane_->ep ? *last_lane_ : look_up(ep);
    }
    EndpointOrder &look_up(ucp_ep_h ep);
    void check_timed();
    void advance(EndpointOrder &lane);
    void forget_if_idle(ucp_ep_h ep);
    void complete(RmaOperation &operation, const Result &result);

    std::vector<Place> places_;
    // A queue of free places, linked by their indices. A place is not reused before all others.
    uint32_t first_free_ = 0, last_free_ = 0;
    uint64_t outstanding_ = 0;
    LinkedList<RmaOperation> timed_; // sent operations that have a time limit
    std::unordered_map<ucp_ep_h, EndpointOrder> lanes_;
    EndpointOrder *last_lane_ = nullptr;
    uint64_t held_ = 0; // the number of held operations
    // The last type that was found. Operations that end give their references to it back, because
    // a new one takes an atomic operation.
    ucd_type_t last_handle_ = UCD_TYPE__NULL;
    const PeerType *last_type_ = nullptr;
    std::vector<TypePtr> references_; // has its full capacity
};

} // namespace ucd_ucx::rma
