// The operations that were started in this process.
#pragma once

#include "rma/rma_operation.h"

#include <array>
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
    struct WindowUse {
        WindowHandle handle = 0; // 0: the target has not sent it yet
    };
    // Beyond these limits nothing is remembered, and content ids and keys are sent.
    static constexpr std::size_t max_types = 4096, max_windows = 1024;

    uint64_t active = 0;
    std::deque<std::unique_ptr<RmaOperation>> held;
    std::unordered_map<ContentId, TypeUse, HashOfId> types;
    std::unordered_map<ContentId, WindowUse, HashOfId> windows;
    // The last ones used, which are found without hashing.
    ContentId last_type = {}, last_window = {};
    TypeUse *last_type_use = nullptr;
    WindowUse *last_window_use = nullptr;
    // The last operation of each kind.
    std::array<RepeatedOperation, 4> last_operations;
    RepeatedOperation &repeated(Verb verb) {
        return last_operations[static_cast<std::size_t>(verb) -
                               static_cast<std::size_t>(Verb::put)];
    }

    void forget();
    void forget_types();
    // Learns from an answer: the window's handle, unless it is 0; and that the target knows the
    // type by this index, unless it is no_index.
    void learn(const ContentId &window, WindowHandle handle, const PeerType &type,
               uint32_t type_index);
};

// A FIFO queue of numbers.
class NumberQueue {
public:
    bool empty() const { return count_ == 0; }
    uint32_t front() const { return numbers_[first_]; }
    void pop_front() {
        first_ = first_ + 1 < numbers_.size() ? first_ + 1 : 0;
        --count_;
    }
    // Makes room for this many numbers. The queue must be empty.
    void reserve(std::size_t numbers) {
        // bounded: by the caller, who has as many places
        numbers_.resize(numbers);
        first_ = 0;
    }
    void push_back(uint32_t number) {
        const std::size_t end = first_ + count_++;
        numbers_[end < numbers_.size() ? end : end - numbers_.size()] = number;
    }

private:
    std::vector<uint32_t> numbers_;
    std::size_t first_ = 0, count_ = 0;
};

// The caller holds the lock.
class Origin {
public:
    Origin(OneSided &rma, uint64_t types_limit);
    Origin(const Origin &) = delete;
    Origin &operator=(const Origin &) = delete;

    Status start(const RmaArguments &arguments, ucd_ucx_request_t *request);
    Status flush(ucp_ep_h ep, const ucd_ucx_param_t *param, ucd_ucx_request_t *request);
    void fence(ucp_ep_h ep);

    void take_answer(const Answer &answer, Delivery &delivery);
    void take_question(uint32_t number, ucp_ep_h ep);
    // The message of that operation could not be sent, or its answer was lost here.
    void take_failure(uint32_t number, ucp_ep_h ep, ucs_status_t status, int ucd);
    void on_endpoint_failed(ucp_ep_h ep, ucs_status_t status, uint64_t before);
    // Ends operations that have taken too long.
    void check_times() {
        if (!timed_.empty()) check_timed();
    }
    bool is_idle() const { return outstanding_ == 0 && held_ == 0; }
    bool knows(uint32_t number, ucp_ep_h ep) const { return find(number, ep) != nullptr; }
    // Whether an operation on the window was sent to this endpoint.
    bool uses(ucp_ep_h ep, const ContentId &window) const {
        const auto lane = lanes_.find(ep);
        return lane != lanes_.end() && lane->second.windows.contains(window);
    }

    // For use by operations:
    OneSided &rma;
    TypesOfOrigin types;
    // Name the window and the type in the request: by handle and index if the target knows these.
    void name_window(EndpointOrder &lane, const ContentId &window, Request &request);
    void name_type(EndpointOrder &lane, const PeerType &type, Request &request);
    void ended(RmaOperation &operation, const Result &result);

private:
    // An operation that was sent. Its number consists of the place in the table and the number of
    // earlier uses of the place.
    struct Place {
        RmaOperation *operation = nullptr;
        uint32_t number = 0;
    };
    static constexpr uint32_t places_bits = 24;
    // Gives the operation a number and sends it. If this fails, nothing has changed.
    template <class Start>
    Status send(RmaOperation &operation, EndpointOrder &lane, Start &&start) noexcept;
    Status enter(RmaOperation &operation);
    Status add_places();
    void leave(const RmaOperation &operation);
    RmaOperation *find(uint32_t number, ucp_ep_h ep) const;
    std::vector<RmaOperation *> operations_of(ucp_ep_h ep) const; // null: of all endpoints

    EndpointOrder &lane_of(ucp_ep_h ep) {
        return ep == last_ep_ && last_lane_ != nullptr ? *last_lane_ : look_up(ep);
    }
    EndpointOrder &look_up(ucp_ep_h ep);
    void check_timed();
    void fence(EndpointOrder &lane);
    void advance(EndpointOrder &lane);
    void forget_if_idle(ucp_ep_h ep);
    void complete(RmaOperation &operation, const Result &result);

    std::vector<Place> places_;
    NumberQueue free_places_; // has room for all
    uint64_t outstanding_ = 0;
    std::vector<RmaOperation *> timed_; // sent operations that have a time limit
    std::unordered_map<ucp_ep_h, EndpointOrder> lanes_;
    ucp_ep_h last_ep_ = nullptr;
    EndpointOrder *last_lane_ = nullptr;
    uint64_t held_ = 0; // the number of held operations
};

} // namespace ucd_ucx::rma
