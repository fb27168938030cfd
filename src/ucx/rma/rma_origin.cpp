#include "rma/rma_origin.h"

#include "rma/one_sided.h"

#include <algorithm>
#include <utility>

namespace ucd_ucx::rma {

void EndpointOrder::forget() {
    forget_types();
    windows.clear();
    last_window_use = nullptr;
}

// Requests that are kept for repetition name types by their indices.
void EndpointOrder::forget_types() {
    types.clear();
    last_type_use = nullptr;
    for (RepeatedOperation &operation : last_operations) operation.type.reset();
}

void EndpointOrder::learn(const ContentId &window, WindowHandle handle, const PeerType &type,
                          uint32_t type_index) {
    if (handle != 0) {
        const auto found = windows.find(window);
        if (found != windows.end()) found->second.handle = handle;
    }
    if (type_index == Request::no_index) return;
    const auto found = types.find(type.id);
    if (found != types.end() && found->second.index == type_index) found->second.confirmed = true;
}

Origin::Origin(OneSided &owner, uint64_t types_limit) : rma(owner), types(types_limit) {}

EndpointOrder &Origin::look_up(ucp_ep_h ep) {
    last_lane_ = &lanes_[ep];
    last_ep_ = ep;
    return *last_lane_;
}

// Numbers -----------------------------------------------------------------

// Places are used in turn, so that a number is reused only after a quarter of a million others: UCX
// may deliver an answer late, to a new endpoint with the address of an old one.
Status Origin::enter(RmaOperation &operation) {
    // own: the program's operations
    if (timed_.size() == timed_.capacity()) timed_.reserve(2 * timed_.size() + 1);
    if (free_places_.empty()) UCD_TRY(add_places());
    Place &place = places_[free_places_.front()];
    free_places_.pop_front();
    place.operation = &operation;
    operation.number = place.number;
    ++outstanding_;
    if (operation.has_time_limit()) {
        operation.timed_place = timed_.size();
        timed_.push_back(&operation);
    }
    return success;
}

Status Origin::add_places() {
    constexpr std::size_t more = 1024;
    if (places_.size() + more > std::size_t{1} << places_bits)
        return fail(UCD_ERR__OUT_OF_MEM, "there are %zu operations outstanding already",
                    places_.size());
    // bounded: by 2^places_bits
    free_places_.reserve(places_.size() + more);
    places_.reserve(places_.size() + more);
    for (std::size_t i = 0; i < more; ++i) {
        const auto index = static_cast<uint32_t>(places_.size());
        places_.push_back({nullptr, index});
        free_places_.push_back(index);
    }
    return success;
}

void Origin::leave(const RmaOperation &operation) {
    const uint32_t index = operation.number & ((uint32_t{1} << places_bits) - 1);
    places_[index].operation = nullptr;
    places_[index].number += uint32_t{1} << places_bits;
    free_places_.push_back(index);
    --outstanding_;
    if (!operation.has_time_limit()) return;
    timed_[operation.timed_place] = timed_.back();
    timed_.back()->timed_place = operation.timed_place;
    timed_.pop_back();
}

RmaOperation *Origin::find(uint32_t number, ucp_ep_h ep) const {
    const uint32_t index = number & ((uint32_t{1} << places_bits) - 1);
    if (index >= places_.size() || places_[index].number != number) return nullptr;
    RmaOperation *operation = places_[index].operation;
    return operation != nullptr && operation->ep() == ep ? operation : nullptr;
}

std::vector<RmaOperation *> Origin::operations_of(ucp_ep_h ep) const {
    std::vector<RmaOperation *> found;
    for (const Place &place : places_)
        if (place.operation != nullptr && (ep == nullptr || place.operation->ep() == ep))
            found.push_back(place.operation);
    return found;
}

// What the target knows -----------------------------------------------------

void Origin::name_window(EndpointOrder &lane, const ContentId &window, Request &request) {
    if (lane.last_window_use == nullptr || !same(lane.last_window, window)) {
        if (lane.windows.size() >= EndpointOrder::max_windows && !lane.windows.contains(window)) {
            lane.windows.clear();
            lane.last_window_use = nullptr;
        }
        lane.last_window_use = &lane.windows[window];
        lane.last_window = window;
    }
    request.handle = lane.last_window_use->handle;
    request.shows_key = request.handle == 0;
    if (request.shows_key) request.window = window;
}

void Origin::name_type(EndpointOrder &lane, const PeerType &type, Request &request) {
    if (lane.last_type_use == nullptr || !same(lane.last_type, type.id)) {
        const bool is_new = !lane.types.contains(type.id);
        // An index may be reused only when no operation is in progress that uses it.
        if (is_new && lane.types.size() >= EndpointOrder::max_types && lane.active == 0)
            lane.forget_types();
        const auto index = static_cast<uint32_t>(lane.types.size());
        if (is_new && index >= EndpointOrder::max_types) { // there is no room
            request.form = TypeForm::name;
            request.type = {reinterpret_cast<const char *>(type.id.data()), type.id.size()};
            return;
        }
        EndpointOrder::TypeUse &use = lane.types[type.id];
        if (use.index == Request::no_index) {
            use.index = index;
            const std::size_t room =
                rma.transfers.max_user_header() - Request::max_bytes_before_type;
            request.form = type.flattened.size() <= room ? TypeForm::flattened : TypeForm::name;
        } else {
            request.form = TypeForm::name;
        }
        lane.last_type_use = &use;
        lane.last_type = type.id;
    } else {
        request.form = TypeForm::name;
    }
    request.type_index = lane.last_type_use->index;
    if (lane.last_type_use->confirmed)
        request.form = TypeForm::known;
    else if (request.form == TypeForm::flattened)
        request.type = type.flattened;
    else
        request.type = {reinterpret_cast<const char *>(type.id.data()), type.id.size()};
}

// Operations ----------------------------------------------------------------

template <class Start>
Status Origin::send(RmaOperation &operation, EndpointOrder &lane, Start &&start) noexcept {
    UCD_TRY(without_exceptions([&] { return enter(operation); }));
    const Status status = without_exceptions(start);
    if (!status.ok() || operation.is_over()) leave(operation);
    if (!status.ok()) return status;
    if (operation.is_over())
        complete(operation, operation.direct_result());
    else
        ++lane.active;
    return success;
}

Status Origin::start(const RmaArguments &arguments, ucd_ucx_request_t *request) {
    EndpointOrder &lane = lane_of(arguments.ep);
    auto operation = std::make_unique<RmaOperation>(*this);
    const RepeatedOperation &before = lane.repeated(arguments.verb);
    if (lane.held.empty() && before.has(arguments)) {
        UCD_TRY(operation->set(arguments, before));
        UCD_TRY(send(*operation, lane, [&] { return operation->start(lane, before); }));
        *request = operation.release();
        return success;
    }
    UCD_TRY(operation->set(arguments));
    if (lane.held.empty()) {
        UCD_TRY(send(*operation, lane, [&] { return operation->start(lane, &arguments); }));
        *request = operation.release();
        return success;
    }
    UCD_TRY(operation->hold());
    *request = operation.get();
    lane.held.push_back(std::move(operation));
    ++held_;
    return success;
}

void Origin::fence(EndpointOrder &lane) {
    if (lane.active > 0 || !lane.held.empty()) lane.held.push_back(nullptr);
}

void Origin::fence(ucp_ep_h ep) {
    if (ep != nullptr) return fence(lane_of(ep));
    for (auto &[endpoint, lane] : lanes_) fence(lane);
}

Status Origin::flush(ucp_ep_h ep, const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    auto flush = std::make_unique<Flush>();
    UCD_TRY(flush->set({}, param));
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

// Answers count only if they come from the operation's target.
void Origin::take_answer(const Answer &answer, Delivery &delivery) {
    RmaOperation *operation = find(answer.number, delivery.ep);
    if (operation != nullptr) operation->answered(answer, delivery.payload);
}

void Origin::take_question(uint32_t number, ucp_ep_h ep) {
    RmaOperation *operation = find(number, ep);
    if (operation != nullptr) operation->type_asked_for();
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
    EndpointOrder &lane = *operation.lane;
    --lane.active;
    complete(operation, result);
    advance(lane);
    if (lane.types.empty()) forget_if_idle(operation.ep());
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
        const Status status = send(next, lane, [&] { return next.start(lane, nullptr); });
        if (!status.ok()) complete(next, {UCS_ERR_IO_ERROR, status.code(), 0, 0});
    }
}

void Origin::check_timed() {
    const std::vector<RmaOperation *> timed = timed_;
    for (RmaOperation *operation : timed) operation->check_time();
}

void Origin::on_endpoint_failed(ucp_ep_h ep, ucs_status_t status, uint64_t before) {
    const auto found = lanes_.find(ep);
    if (found == lanes_.end()) return;
    EndpointOrder &lane = found->second;
    lane.forget();
    std::erase_if(lane.held, [&](std::unique_ptr<RmaOperation> &operation) {
        if (operation == nullptr || operation->since() >= before) return false;
        --held_;
        complete(*operation.release(), {status, UCD_SUCCESS, 0, 0});
        return true;
    });
    for (RmaOperation *operation : operations_of(ep))
        if (operation->since() < before) operation->fail(status, UCD_SUCCESS);
    // The lane may have been deleted with its last operation.
    const auto left = lanes_.find(ep);
    if (left == lanes_.end()) return;
    advance(left->second);
    forget_if_idle(ep);
}

} // namespace ucd_ucx::rma
