#include "rma/rma_origin.h"

#include "rma/one_sided.h"

#include <algorithm>
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

TypeUse *EndpointOrder::name_type(const PeerType &type, std::size_t max_header, Request &request) {
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
        if (last_type_use_->confirmed) return nullptr;
    }
    const bool fits = type.flattened.size() + Request::max_bytes_before_type <= max_header;
    const bool is_shown = is_new && fits && last_type_use_ != nullptr;
    request.form = is_shown ? TypeForm::flattened : TypeForm::name;
    request.type = {reinterpret_cast<const char *>(type.id.data()), type.id.size()};
    if (is_shown) request.type = type.flattened;
    return last_type_use_;
}

// Types -----------------------------------------------------------------------

Origin::Origin(OneSided &owner, uint64_t types_limit)
    : rma(owner), types(types_limit), next_number_(static_cast<uint32_t>(random_token())) {
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

// A number is reused only after all others: UCX may deliver an answer late, to a new endpoint with
// the address of an old one.
void Origin::enter(RmaOperation &operation) {
    if (2 * (sent_now_ + 1) > sent_.size()) {
        constexpr std::size_t least = 1024;
        // own: the program's operations
        std::vector<RmaOperation *> before(std::max(least, 2 * sent_.size()));
        before.swap(sent_);
        for (RmaOperation *other : before)
            if (other != nullptr) sent_[place_of(other->number)] = other;
    }
    while (sent_[place_of(next_number_)] != nullptr) ++next_number_;
    operation.number = next_number_++;
    sent_[place_of(operation.number)] = &operation;
    ++sent_now_;
    if (operation.has_time_limit()) timed_.push(operation);
}

void Origin::leave(RmaOperation &operation) {
    sent_[place_of(operation.number)] = nullptr;
    --sent_now_;
    LinkedList<RmaOperation>::remove(operation);
}

uint64_t Origin::unfinished(ucp_ep_h ep) const {
    uint64_t number = 0;
    for (const auto &[endpoint, lane] : lanes_)
        if (ep == nullptr || endpoint == ep) number += lane.active + lane.held_operations();
    return number;
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
        const CheckedArguments &arguments = operation.arguments;
        std::optional<Status> moved;
        if (operation.trusts()) moved = rma.access.move(arguments, operation.lane.ep);
        if (moved) {
            complete(operation, {ucx_status_of(moved->code()), moved->code(),
                                 moved->ok() ? arguments.bytes : 0});
            return success;
        }
        enter(operation);
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
    operation->order = ++started_;
    if (lane.held.empty()) {
        UCD_TRY(send(*operation));
        *request = operation.release();
        return success;
    }
    UCD_TRY(operation->arguments.hold());
    *request = operation.get();
    lane.held.push_back(std::move(operation));
    return success;
}

void Origin::fence(ucp_ep_h ep) {
    for (auto &[endpoint, lane] : lanes_)
        if ((ep == nullptr || endpoint == ep) && (lane.active > 0 || !lane.held.empty()))
            lane.held.push_back(nullptr);
}

Status Origin::flush(ucp_ep_h ep, const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    auto flush = std::make_unique<Flush>(ep, started_, unfinished(ep));
    UCD_TRY(flush->set(param));
    *request = UCD_UCX_REQUEST__NULL;
    if (unfinished(ep) == 0) return success;
    flushes_.push_back(flush.get());
    *request = flush.release();
    return success;
}

void Origin::complete(RmaOperation &operation, const Result &result) {
    std::erase_if(flushes_, [&](Flush *flush) {
        const bool ends = flush->awaits(operation) && flush->one_ended(result);
        if (ends) rma.engine.finish(*flush, flush->failure());
        return ends;
    });
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
        complete(*lane.held.front().release(), {status, UCD_SUCCESS, 0, 0});
    }
    for (RmaOperation *operation : sent_)
        if (operation != nullptr && operation->lane.ep == ep) operation->fail(status, UCD_SUCCESS);
    forget_if_idle(ep);
}

} // namespace ucd_ucx::rma
