#include "rma/rma_origin.h"

#include "rma/one_sided.h"

#include <utility>

namespace ucd_ucx::rma {

// What the target knows -----------------------------------------------------

void EndpointOrder::forget() {
    types.clear();
    last_type_use_ = nullptr;
    windows.clear();
    last_handle_ = nullptr;
}

void EndpointOrder::learn(const ContentId &window, WindowHandle handle) {
    if (handle == 0) return;
    const auto found = windows.find(window);
    if (found != windows.end()) found->second = handle;
}

void EndpointOrder::learn(const PeerType &type) {
    const auto found = types.find(type.id);
    if (found != types.end()) found->second.confirmed = true;
}

void EndpointOrder::name_window(const ContentId &window, Request &request) {
    if (last_handle_ == nullptr || !same(last_window_, window)) {
        last_handle_ = nullptr;
        if (windows.size() >= max_windows && !windows.contains(window)) windows.clear();
        last_handle_ = &windows[window];
        last_window_ = window;
    }
    request.handle = *last_handle_;
    request.shows_key = request.handle == 0;
    if (request.shows_key) request.window = window;
}

void EndpointOrder::name_type(const PeerType &type, std::size_t max_header, Request &request) {
    bool is_new = false;
    if (last_type_use_ == nullptr || !same(last_type_, type.id)) {
        last_type_use_ = nullptr;
        is_new = !types.contains(type.id);
        // An index may be reused only when no operation is in progress that uses it.
        if (is_new && types.size() >= max_types && active == 0) types.clear();
        const auto index = static_cast<uint32_t>(types.size());
        if (!is_new || index < max_types) last_type_use_ = &types[type.id];
        if (is_new && last_type_use_ != nullptr) last_type_use_->index = index;
        last_type_ = type.id;
    }
    if (last_type_use_ != nullptr) {
        request.type_index = last_type_use_->index;
        if (last_type_use_->confirmed) return;
        if (is_new && type.flattened.size() + Request::max_bytes_before_type <= max_header) {
            request.form = TypeForm::flattened;
            request.type = type.flattened;
            return;
        }
    }
    request.form = TypeForm::name;
    request.type = {reinterpret_cast<const char *>(type.id.data()), type.id.size()};
}

// Types -----------------------------------------------------------------------

Origin::Origin(OneSided &owner, uint64_t types_limit) : rma(owner), types(types_limit) {
    references_.reserve(64);
}

Status Origin::find_type(ucd_type_t handle, TypePtr &type) {
    if (handle != last_handle_) references_.clear();
    if (!references_.empty()) { // the type keeps its handle from being used for another one
        type = std::move(references_.back());
        references_.pop_back();
        return success;
    }
    UCD_TRY(types.find(handle, type));
    last_handle_ = handle;
    last_type_ = type.get();
    return success;
}

// Numbers -----------------------------------------------------------------

// Places are used in turn, so that a number is reused only after a quarter of a million others: UCX
// may deliver an answer late, to a new endpoint with the address of an old one.
Status Origin::enter(RmaOperation &operation) {
    if (outstanding_ + 1 >= places_.size()) UCD_TRY(add_places());
    Place &place = places_[first_free_];
    first_free_ = place.next_free;
    place.operation = &operation;
    operation.number = place.number;
    ++outstanding_;
    if (operation.has_time_limit()) timed_.push(operation);
    return success;
}

Status Origin::add_places() {
    constexpr std::size_t more = 1024;
    const std::size_t first = places_.size();
    if (first + more > place_mask) // one place is always free
        return fail(UCD_ERR__OUT_OF_MEM, "there are %zu operations outstanding already", first);
    // bounded: by 2^places_bits
    places_.resize(first + more);
    for (std::size_t i = first; i < first + more; ++i) {
        places_[i].number = static_cast<uint32_t>(i);
        free_place(static_cast<uint32_t>(i));
    }
    return success;
}

void Origin::free_place(uint32_t index) {
    places_[last_free_].next_free = index;
    last_free_ = index;
}

void Origin::leave(RmaOperation &operation) {
    const uint32_t index = operation.number & place_mask;
    places_[index].operation = nullptr;
    places_[index].number += uint32_t{1} << places_bits;
    free_place(index);
    --outstanding_;
    LinkedList<RmaOperation>::remove(operation);
}

std::vector<RmaOperation *> Origin::operations_of(ucp_ep_h ep) const {
    std::vector<RmaOperation *> found;
    for (const Place &place : places_)
        if (place.operation != nullptr && (ep == nullptr || place.operation->lane.ep == ep))
            found.push_back(place.operation);
    return found;
}

// Operations ----------------------------------------------------------------

EndpointOrder &Origin::look_up(ucp_ep_h ep) {
    last_lane_ = &lanes_[ep];
    last_lane_->ep = ep;
    return *last_lane_;
}

Status Origin::send(RmaOperation &operation) noexcept {
    bool is_entered = false;
    const Status status = without_exceptions([&] {
        if (const std::optional<Result> result = operation.done_directly())
            return complete(operation, *result), success;
        UCD_TRY(enter(operation));
        is_entered = true;
        return operation.start();
    });
    if (is_entered && status.ok()) ++operation.lane.active;
    if (is_entered && !status.ok()) leave(operation);
    return status;
}

Status Origin::start(const RmaArguments &arguments, ucd_ucx_request_t *request) {
    EndpointOrder &lane = lane_of(arguments.ep);
    auto operation = std::make_unique<RmaOperation>(*this, lane);
    UCD_TRY(operation->set(arguments));
    if (lane.held.empty()) {
        UCD_TRY(send(*operation));
        *request = operation.release();
        return success;
    }
    UCD_TRY(operation->arguments.hold());
    *request = operation.get();
    lane.held.push_back(std::move(operation));
    ++held_;
    return success;
}

void Origin::fence(ucp_ep_h ep) {
    for (auto &[endpoint, lane] : lanes_)
        if ((ep == nullptr || endpoint == ep) && (lane.active > 0 || !lane.held.empty()))
            lane.held.push_back(nullptr);
}

Status Origin::flush(ucp_ep_h ep, const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    auto flush = std::make_unique<Flush>();
    UCD_TRY(flush->set(param));
    std::vector<RmaOperation *> awaited = operations_of(ep);
    for (const auto &[endpoint, lane] : lanes_)
        for (const auto &operation : lane.held)
            if (operation != nullptr && (ep == nullptr || endpoint == ep))
                awaited.push_back(operation.get());
    // Reserve all memory first: if that fails, no operation may refer to the flush.
    for (RmaOperation *operation : awaited)
        operation->flushes.reserve(operation->flushes.size() + 1);
    for (RmaOperation *operation : awaited) {
        operation->flushes.push_back(flush.get());
        flush->await_one();
    }
    *request = flush->awaits_any() ? flush.release() : UCD_UCX_REQUEST__NULL;
    return success;
}

void Origin::take_failure(uint32_t number, ucp_ep_h ep, ucs_status_t status, int ucd) {
    RmaOperation *operation = find(number, ep);
    if (operation != nullptr) operation->fail(status, ucd);
}

void Origin::complete(RmaOperation &operation, const Result &result) {
    if (!operation.flushes.empty())
        for (Flush *flush : std::exchange(operation.flushes, {}))
            if (flush->one_ended(result)) rma.engine.finish(*flush, flush->result());
    rma.engine.finish(operation, result);
}

void Origin::ended(RmaOperation &operation, const Result &result) {
    leave(operation);
    TypePtr &type = operation.arguments.type;
    // One that has failed needs its type for ucd_ucx_last_error.
    const bool is_reusable = result.status == UCS_OK && type.get() == last_type_ &&
                             references_.size() < references_.capacity();
    if (is_reusable) references_.push_back(std::move(type));
    EndpointOrder &lane = operation.lane;
    --lane.active;
    complete(operation, result);
    advance(lane);
    if (lane.types.empty()) forget_if_idle(lane.ep);
}

// For an endpoint that has failed: its lane is no longer needed.
void Origin::forget_if_idle(ucp_ep_h ep) {
    const auto found = lanes_.find(ep);
    if (found == lanes_.end()) return;
    const EndpointOrder &lane = found->second;
    if (lane.active > 0 || !lane.held.empty() || !lane.types.empty()) return;
    if (last_lane_ == &lane) last_lane_ = nullptr;
    lanes_.erase(found);
}

void Origin::advance(EndpointOrder &lane) {
    while (!lane.held.empty() && (lane.held.front() != nullptr || lane.active == 0)) {
        std::unique_ptr<RmaOperation> operation = std::move(lane.held.front());
        lane.held.pop_front();
        if (operation == nullptr) continue;
        --held_;
        operation->note_progress();
        RmaOperation &next = *operation.release();
        const Status status = send(next);
        if (!status.ok()) complete(next, {UCS_ERR_IO_ERROR, status.code(), 0, 0});
    }
}

void Origin::check_timed() {
    for (std::size_t left = timed_.size(); left > 0 && !timed_.empty(); --left) {
        RmaOperation &operation = timed_.pop();
        timed_.push(operation);
        operation.check_time();
    }
}

// All operations of the endpoint are older than its failure, since failures are handled before an
// operation starts.
void Origin::on_endpoint_failed(ucp_ep_h ep, ucs_status_t status) {
    const auto found = lanes_.find(ep);
    if (found == lanes_.end()) return;
    EndpointOrder &lane = found->second;
    lane.forget();
    for (; !lane.held.empty(); lane.held.pop_front()) {
        if (lane.held.front() == nullptr) continue;
        --held_;
        complete(*lane.held.front().release(), {status, UCD_SUCCESS, 0, 0});
    }
    for (RmaOperation *operation : operations_of(ep)) operation->fail(status, UCD_SUCCESS);
    forget_if_idle(ep);
}

} // namespace ucd_ucx::rma
