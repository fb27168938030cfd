#include "rma/rma_target.h"

#include "pipeline/pipeline.h"
#include "rma/rma.h"

#include <algorithm>
#include <cstring>

namespace ucd_ucx::rma {
namespace {

// Of answers that are not sent. To one who has more of them, data goes in chunks that wait for it.
constexpr uint64_t max_unsent = 4 << 20;

} // namespace

Verdict verdict_of(int ucd) {
    switch (ucd) {
    case UCD_SUCCESS: return Verdict::done;
    case UCD_ERR__OUT_OF_MEM: return Verdict::no_memory;
    case UCD_ERR__NOT_SUPPORTED: return Verdict::not_supported;
    case UCD_ERR__CORRUPT: return Verdict::invalid;
    default: return Verdict::failed;
    }
}

Target::~Target() = default;

void Target::add(std::unique_ptr<ucd_ucx_window> window) {
    const ContentId name = window->name;
    windows_.emplace(name, std::move(window));
}

Status Target::remove(ucd_ucx_window &window) {
    std::vector<Task *> waiting;
    for (Task &task : tasks_) {
        if (&task.window() != &window) continue;
        if (task.at_work())
            return fail(UCD_ERR__INVALID_ARG, "*window has an operation at work on it");
        waiting.push_back(&task);
    }
    for (Task *task : waiting) task->refuse(Verdict::no_window);
    for (auto &[ep, peer] : peers_) peer.forget(window);
    windows_.erase(ContentId(window.name));
    return success;
}

Peer *Target::peer(ucp_ep_h ep) {
    if (ep != last_ep_ || last_peer_ == nullptr) {
        last_peer_ = &peers_[ep];
        last_ep_ = ep;
    }
    return last_peer_->barred ? nullptr : last_peer_;
}

void Target::take_request(const Preamble &preamble, Delivery &delivery) {
    const ucp_ep_h ep = delivery.ep;
    const Status status = without_exceptions([&] {
        begin(preamble, delivery);
        return success;
    });
    if (!status.ok()) answer(ep, {verdict_of(status.code()), UCD_SUCCESS, preamble.number, 0});
}

// Throws before it has answered or begun anything. A Task, once it is made, ends by itself.
void Target::begin(const Preamble &preamble, Delivery &delivery) {
    Peer *from = peer(delivery.ep);
    if (from == nullptr) return;
    from->earn(delivery.message.size());
    Request request;
    std::string_view data;
    Found found;
    Verdict verdict = Verdict::invalid;
    if (decode(delivery.message, preamble, request, data)) {
        delivery.set_data(data);
        verdict = find(request, *from, found);
    }
    const uint64_t bytes = delivery.payload.is_here() ? delivery.payload.bytes() : 0;
    const bool reads_only = request.verb == Verb::get || request.op < 0;
    if (verdict == Verdict::done && reads_only && delivery.payload.bytes() > 0)
        verdict = Verdict::invalid;
    if (verdict == Verdict::done && suits_at_once(request, found, delivery))
        return do_at_once(request, found, delivery);
    if (verdict == Verdict::done &&
        (from->operations >= limits_.peer_operations || from->bytes + bytes > limits_.peer_memory))
        verdict = Verdict::no_memory;
    if (verdict != Verdict::done)
        return answer(delivery.ep, {verdict, UCD_SUCCESS, preamble.number, found.handle});
    Task &task = tasks_.emplace_front(*this, *found.window, request, found.handle, found.type_id,
                                      std::move(delivery));
    task.place = tasks_.begin();
    ++from->operations;
    from->bytes += bytes;
    if (found.type != nullptr)
        task.begin(found.owner != nullptr ? std::move(found.owner) : types.find(found.type_id));
    else
        park(task);
}

Verdict Target::find(const Request &request, Peer &peer, Found &found) {
    if (request.shows_key) {
        const auto known = windows_.find(request.window);
        found.window = known == windows_.end() ? nullptr : known->second.get();
        if (found.window != nullptr) found.handle = peer.handle_of(*found.window);
    } else {
        found.window = peer.window(request.handle);
    }
    if (found.window == nullptr) return Verdict::no_window;
    return find_type(request, peer, found);
}

// Done without a type: it is to be asked for.
Verdict Target::find_type(const Request &request, Peer &peer, Found &found) {
    switch (request.form) {
    case TypeForm::known:
        found.type = peer.type(request.type_index, types, found.type_id, found.owner);
        return found.type != nullptr || found.type_id != ContentId{} ? Verdict::done
                                                                     : Verdict::invalid;
    case TypeForm::name:
        std::copy_n(request.type.begin(), found.type_id.size(), found.type_id.begin());
        found.owner = types.find(found.type_id);
        break;
    case TypeForm::flattened: {
        const Status status = types.learn(request.type, found.owner);
        if (!status.ok()) return verdict_of(status.code());
        found.type_id = found.owner->id;
        break;
    }
    }
    found.type = found.owner.get();
    const bool named = request.type_index == Request::no_index ||
                       peer.remember(request.type_index, found.type_id, found.owner);
    return named ? Verdict::done : Verdict::invalid;
}

// Whether the data is here, or is to go as one message, and the window is the host's: then no Task
// is needed.
bool Target::suits_at_once(const Request &request, const Found &found, const Delivery &delivery) {
    if (found.type == nullptr || !delivery.payload.is_here()) return false;
    const ucd_ucx_window &window = *found.window;
    if (request.verb == Verb::put) return window.to_write.on_host;
    if (request.verb == Verb::accumulate) return window.to_write.on_host && window.is_idle();
    const Peer *from = peer(delivery.ep);
    const ucd_layout_t *layout;
    return request.verb == Verb::get && window.to_read.on_host && from != nullptr &&
           from->bytes <= max_unsent && found.type->measure(request.count, layout).ok() &&
           layout->bytes <= window.eager;
}

void Target::do_at_once(const Request &request, const Found &found, Delivery &delivery) {
    Answer result = {Verdict::done, UCD_SUCCESS, request.number, found.handle};
    Checked checked;
    result.verdict =
        check(request, *found.window, *found.type, delivery.ep, delivery.payload.bytes(), checked);
    if (result.verdict == Verdict::done && checked.bytes > 0) {
        const Status status = request.verb == Verb::get
                                  ? answer_with_data(request, found, delivery, checked, result)
                                  : write(request, found, delivery, checked);
        if (status.ok() && request.verb == Verb::get) return;
        result.verdict = verdict_of(status.code());
        result.ucd = static_cast<uint8_t>(status.code());
    }
    const Status status =
        without_exceptions([&] { return rma.direct.gather(delivery.ep, Encoded(result), {}, 0); });
    if (status.code() == UCD_ERR__OUT_OF_MEM) say_later(delivery.ep, Encoded(result));
}

Status Target::answer_with_data(const Request &request, const Found &found,
                                const Delivery &delivery, const Checked &checked,
                                const Answer &result) {
    const ucd_ucx_window &window = *found.window;
    const Data data = {window.at(request.displacement), request.count, found.type->type.get(),
                       &window.to_read};
    return rma.direct.gather(delivery.ep, Encoded(result), data, checked.bytes);
}

Status Target::write(const Request &request, const Found &found, const Delivery &delivery,
                     const Checked &checked) {
    const ucd_ucx_window &window = *found.window;
    const char *const data = delivery.payload.here().data();
    if (checked.contiguous && request.op == UCD_OP__REPLACE) {
        // Both together are in the window; each alone may be far from it.
        std::memcpy(window.at(request.displacement + checked.low), data, checked.bytes);
        return success;
    }
    uintptr_t unpacked;
    return ucd_ok(ucd_unpack(data, checked.bytes, window.at(request.displacement), request.count,
                             found.type->type.get(), 0, &unpacked, window.to_write.info.get(),
                             request.op));
}

Verdict Target::check(const Request &request, const ucd_ucx_window &window, const KnownType &type,
                      ucp_ep_h ep, uint64_t data_bytes, Checked &checked) {
    const ucd_layout_t *layout;
    const int rc = type.measure(request.count, layout).code();
    if (rc == UCD_ERR__OVERFLOW) return Verdict::out_of_range;
    if (rc != UCD_SUCCESS) return verdict_of(rc);
    checked.bytes = layout->bytes;
    checked.contiguous = layout->contiguous != 0;
    checked.low = layout->low;
    const bool sends = request.verb != Verb::get && request.op >= 0;
    if (sends && data_bytes != layout->bytes) return Verdict::invalid;
    if (layout->bytes == 0) return Verdict::done;
    if (!window.has(request.displacement, layout->low, layout->high)) return Verdict::out_of_range;
    if (accumulates(request.verb)) {
        if (type.element == 0) return Verdict::invalid;
        checked.element_bytes = type.element_bytes;
    }
    if (!sends) return Verdict::done;
    Peer *from = peer(ep);
    if (from == nullptr) return Verdict::invalid;
    Overlap overlap;
    const Status found = type.find_overlap(request.count, from->work, overlap);
    if (!found.ok()) return verdict_of(found.code());
    return overlap == Overlap::none   ? Verdict::done
           : overlap == Overlap::some ? Verdict::invalid
                                      : Verdict::not_supported;
}

void Target::park(Task &task) {
    bool is_new = false;
    const Status status = without_exceptions([&] {
        is_new = parked_.emplace(std::pair(task.ep(), task.number()), &task).second;
        return success;
    });
    if (!status.ok()) return task.refuse(Verdict::no_memory);
    if (!is_new) return task.refuse(Verdict::invalid);
    say(task.ep(), Encoded(Preamble{Verb::need_type, 0, 0, task.number()}));
}

void Target::take_type(uint32_t number, Delivery &delivery) {
    const auto found = parked_.find({delivery.ep, number});
    if (found == parked_.end()) return;
    Task &task = *found->second;
    parked_.erase(found);
    task.receive_type(std::move(delivery));
}

void Target::lose_type(uint32_t number, ucp_ep_h ep) {
    const auto found = parked_.find({ep, number});
    if (found != parked_.end()) found->second->refuse(Verdict::no_memory);
}

void Target::answer(ucp_ep_h ep, const Answer &answer) {
    say(ep, Encoded(answer));
}

// The endpoint is null if it has failed: then no answer is sent.
void Target::say(ucp_ep_h ep, const Encoded &message) {
    if (ep != nullptr && !try_to_say(ep, message)) say_later(ep, message);
}

bool Target::try_to_say(ucp_ep_h ep, const Encoded &message) {
    std::size_t waiting = 0;
    const Status status = without_exceptions(
        [&] { return rma.direct.send(ep, message, {}, 0, no_operation, &waiting); });
    note_waiting(ep, waiting);
    // Any other failure is the endpoint's.
    return status.code() != UCD_ERR__OUT_OF_MEM;
}

// What finds no place either is lost: it is more than were reserved.
void Target::say_later(ucp_ep_h ep, const Encoded &message) {
    (void)without_exceptions([&] {
        unsent_.push_back({ep, message});
        return success;
    });
}

void Target::reserve_answers() {
    const std::size_t places = unsent_.size() + reserved_answers;
    if (unsent_.capacity() < places) unsent_.reserve(places);
}

void Target::refuse(const Preamble &preamble, const Delivery &delivery, Verdict verdict) {
    bool barred = false; // not if there is no memory to look
    (void)without_exceptions([&] {
        Peer *from = peer(delivery.ep);
        barred = from == nullptr;
        if (!barred) from->earn(delivery.message.size());
        return success;
    });
    if (!barred) answer(delivery.ep, {verdict, UCD_SUCCESS, preamble.number, 0});
}

void Target::refuse_old(ucp_ep_h ep, std::string_view refusal) {
    if (peer(ep) == nullptr) return;
    std::size_t waiting;
    // A peer that cannot be told is as one that is not.
    (void)rma.direct.send_as_header(ep, refusal, &waiting);
    note_waiting(ep, waiting);
}

Status Target::answer(ucp_ep_h ep, const Answer &answer, const Data &data, uint64_t bytes,
                      uint64_t eager, uint64_t granule, const ucd_ucx_param_t &param, bool *waits) {
    *waits = false;
    const Peer *to = peer(ep);
    if (to == nullptr) return success;
    if (bytes <= eager && (bytes == 0 || to->bytes <= max_unsent)) {
        std::size_t waiting;
        UCD_UCX_TRY(rma.direct.send(ep, Encoded(answer), data, bytes, no_operation, &waiting));
        note_waiting(ep, waiting);
        return success;
    }
    ucd_ucx_request_t request;
    UCD_UCX_TRY(rma.send(ep, Encoded(answer).text(), data, &param, granule, &request));
    *waits = request != UCD_UCX_REQUEST__NULL;
    ucd_ucx_request_free(request);
    return success;
}

bool Target::charge_task(ucp_ep_h ep, uint64_t bytes) {
    Peer *from = ep != nullptr ? peer(ep) : nullptr;
    if (from == nullptr || bytes > limits_.peer_memory || from->bytes > limits_.peer_memory - bytes)
        return false;
    from->bytes += bytes;
    return true;
}

void Target::note_waiting(ucp_ep_h ep, std::size_t bytes) {
    const auto found = bytes > 0 ? peers_.find(ep) : peers_.end();
    if (found == peers_.end() || found->second.barred) return;
    Peer &to = found->second;
    to.bytes += bytes;
    // It sends requests and does not fetch the answers.
    to.barred = to.bytes > limits_.peer_memory;
}

void Target::note_sent(ucp_ep_h ep, std::size_t bytes) {
    const auto found = peers_.find(ep);
    if (found == peers_.end()) return;
    found->second.bytes -= std::min<uint64_t>(bytes, found->second.bytes);
}

void Target::end(Task &task) {
    const auto parked = parked_.find({task.ep(), task.number()});
    if (parked != parked_.end() && parked->second == &task) parked_.erase(parked);
    const auto from = peers_.find(task.ep());
    if (from != peers_.end()) {
        from->second.operations -= from->second.operations > 0;
        from->second.bytes -= std::min(task.charged(), from->second.bytes);
    }
    std::list<Task> ended;
    ended.splice(ended.begin(), tasks_, task.place);
    task.window().leave(task);
}

void Target::on_endpoint_failed(ucp_ep_h ep, uint64_t before) {
    std::erase_if(unsent_, [ep](const Unsent &u) { return u.ep == ep; });
    rma.direct.forget_gathered(ep);
    std::vector<Task *> failed;
    for (Task &task : tasks_)
        if (task.ep() == ep && task.since() < before) failed.push_back(&task);
    for (Task *task : failed) {
        parked_.erase({ep, task->number()});
        task->on_endpoint_failed();
    }
    if (last_ep_ == ep) last_peer_ = nullptr;
    peers_.erase(ep);
}

bool Target::progress() {
    if (unsent_.empty()) return false;
    std::erase_if(unsent_, [this](const Unsent &u) { return try_to_say(u.ep, u.message); });
    return true;
}

} // namespace ucd_ucx::rma
