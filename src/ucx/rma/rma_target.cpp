#include "rma/rma_target.h"

#include "datatype/op_steps.h"
#include "rma/one_sided.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace ucd_ucx::rma {
namespace {

// A task and its entries in tables, without the data of its message.
constexpr uint64_t bytes_of_task = sizeof(Task) + 256;

// Moves packed data to the window's memory.
Status write(ucd_op_t op, const ucd_layout_t &layout, const char *data, const Data &to) {
    if (layout.contiguous != 0 && op == UCD_OP__REPLACE) {
        std::memcpy(address_at(to.buf, layout.low), data, layout.bytes);
        return success;
    }
    uintptr_t unpacked;
    return ucd_ok(ucd_unpack(data, layout.bytes, const_cast<void *>(to.buf), to.count, to.type, 0,
                             &unpacked, to.hints->info.get(), op));
}

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

Target::Target(OneSided &owner, uint64_t peer_operations)
    : rma(owner), types(owner.engine.ledger), ledger_(owner.engine.ledger),
      peer_operations_(peer_operations) {
    reserve_answers();
}

void Target::add(std::unique_ptr<ucd_ucx_window> window) {
    const ContentId name = window->name;
    windows_.emplace(name, std::move(window));
}

Peer *Target::look_up(ucp_ep_h ep) {
    if (ep == nullptr || ledger_.is_barred(ep)) return nullptr;
    std::unique_ptr<Peer> &known = peers_[ep];
    if (known == nullptr) known = std::make_unique<Peer>(ledger_, ep);
    last_peer_ = known.get();
    return last_peer_;
}

void Target::take_request(const Preamble &preamble, Delivery &delivery) {
    const ucp_ep_h ep = delivery.ep;
    const Status status = without_exceptions([&] {
        begin(preamble, delivery);
        return success;
    });
    if (!status.ok()) answer(ep, {verdict_of(status.code()), UCD_SUCCESS, preamble.number, 0});
}

// If it throws, it has not answered or begun anything. Once a Task is created, it deletes itself.
void Target::begin(const Preamble &preamble, Delivery &delivery) {
    Peer *from = peer(delivery.ep);
    if (from == nullptr) return;
    from->earn(delivery.message.size());
    Request request;
    std::string_view data;
    Found found;
    Verdict verdict = Verdict::invalid;
    if (decode(delivery.message, preamble, request, data) && delivery.set_data(data))
        verdict = find(request, *from, found);
    if (verdict == Verdict::done && rma.engine.options.direct != Trust::none)
        (void)without_exceptions([&] {
            rma.access.offer(delivery.ep, *found.window);
            return success;
        });
    const bool reads_only = request.verb == Verb::get || request.op < 0;
    if (verdict == Verdict::done && reads_only && delivery.payload.bytes() > 0)
        verdict = Verdict::invalid;
    if (verdict == Verdict::done && do_at_once(request, found, delivery)) return;
    const bool is_to_be_built = found.type == nullptr && request.form == TypeForm::flattened;
    if (verdict == Verdict::done && is_to_be_built && !types.is_possible(request.type.size()))
        verdict = Verdict::no_memory;
    Charge charge;
    if (verdict == Verdict::done && from->tasks.size() + from->at_work.size() < peer_operations_)
        charge = from->take(bytes_of_task + request.type.size() +
                                (delivery.payload.is_here() ? delivery.message.size() : 0),
                            LedgerUse::request);
    if (verdict == Verdict::done && !charge) verdict = Verdict::no_memory;
    if (verdict != Verdict::done)
        return answer(delivery.ep, {verdict, UCD_SUCCESS, preamble.number, found.handle});
    Task &task =
        from->tasks.emplace_front(*this, *from, request, *found.window, found.handle, found.type_id,
                                  std::move(delivery.payload), std::move(charge));
    task.place = from->tasks.begin();
    found.window->tasks.push(task);
    if (found.type != nullptr)
        task.set_type(found.owner != nullptr ? std::move(found.owner) : types.find(found.type_id));
    else if (!is_to_be_built)
        return park(task);
    wait(task);
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

Verdict Target::find_type(const Request &request, Peer &peer, Found &found) {
    if (request.form == TypeForm::known) {
        found.type = peer.type(request.type_index, types, found.type_id, found.owner);
        return found.type != nullptr || found.type_id != ContentId{} ? Verdict::done
                                                                     : Verdict::invalid;
    }
    if (request.form == TypeForm::name)
        std::copy_n(request.type.begin(), found.type_id.size(), found.type_id.begin());
    else
        found.type_id = content_id(request.type.data(), request.type.size());
    found.owner = types.find(found.type_id);
    if (found.owner == nullptr) found.owner = peer.find_kept(found.type_id);
    found.type = found.owner.get();
    return request.type_index == Request::no_index
               ? Verdict::done
               : peer.remember(request.type_index, found.type_id);
}

// Does a request that needs no Task: its data is here or will be sent as one message, the window is
// in host memory, and the work is not longer than a call of progress allows. Returns false for
// others, and if the account has no room for the answer.
bool Target::do_at_once(const Request &request, const Found &found, const Delivery &delivery) {
    ucd_ucx_window &window = *found.window;
    const bool reads = request.verb == Verb::get, combines = accumulates(request.verb);
    const BufferHints &hints = reads ? window.to_read : window.to_write;
    if (found.type == nullptr || request.verb == Verb::get_accumulate || !hints.on_host ||
        !delivery.payload.is_here() || !ledger_.may_work(delivery.ep))
        return false;
    Checked checked;
    const std::optional<Verdict> verdict =
        check(request, window, *found.type, delivery.ep, delivery.payload.bytes(), checked);
    if (!verdict) return false;
    Answer result = {*verdict, UCD_SUCCESS, request.number, found.handle};
    if (*verdict == Verdict::done && checked.layout->bytes > 0) {
        const ucd_layout_t &layout = *checked.layout;
        const uint64_t steps = steps_of(layout.bytes, checked.segments);
        if (steps > Ledger::steps_of_call / 2 || (reads && layout.bytes > window.eager))
            return false;
        if (combines && !(window.is_idle() && window.take_turn())) return false;
        const Data data = {window.at(request.displacement), request.count, found.type->type.get(),
                           &hints};
        bool refused = false;
        const Status status =
            reads ? rma.messages.send_answer(delivery.ep, Encoded(result), data, layout.bytes,
                                             LedgerUse::chunk, &refused)
                  : write(request.op, layout, delivery.payload.here().data(), data);
        if (combines) window.end_turn();
        if (refused) return false;
        ledger_.note_work(delivery.ep, steps);
        if (status.ok() && reads) return true;
        result.verdict = verdict_of(status.code());
        result.ucd = static_cast<uint8_t>(status.code());
    }
    answer(delivery.ep, result);
    return true;
}

std::optional<Verdict> Target::check(const Request &request, const ucd_ucx_window &window,
                                     const PeerType &type, ucp_ep_h ep, uint64_t data_bytes,
                                     Checked &checked) {
    const int rc = type.measure(request.count, checked.layout).code();
    if (rc == UCD_ERR__OVERFLOW) return Verdict::out_of_range;
    if (rc != UCD_SUCCESS) return verdict_of(rc);
    const ucd_layout_t &layout = *checked.layout;
    checked.segments = layout.segments;
    const bool sends = request.verb != Verb::get && request.op >= 0;
    if (sends && data_bytes != layout.bytes) return Verdict::invalid;
    if (layout.bytes == 0) return Verdict::done;
    if (!window.has(request.displacement, layout.low, layout.high)) return Verdict::out_of_range;
    if (accumulates(request.verb) && type.element == 0) return Verdict::invalid;
    if (accumulates(request.verb) && request.op > UCD_OP__REPLACE)
        checked.segments +=
            steps_of_op(type.one.element, type.element_bytes, request.op, layout.bytes);
    if (!sends) return Verdict::done;
    Peer *from = peer(ep);
    if (from == nullptr) return Verdict::invalid;
    Overlap overlap;
    bool must_wait;
    const Status found =
        type.find_overlap(request.count, ledger_, ep, from->work, overlap, &must_wait);
    if (must_wait) return std::nullopt;
    if (!found.ok()) return verdict_of(found.code());
    return overlap == Overlap::none   ? Verdict::done
           : overlap == Overlap::some ? Verdict::invalid
                                      : Verdict::not_supported;
}

void Target::park(Task &task) {
    bool is_new = false;
    const Status status = without_exceptions([&] {
        is_new = task.peer().parked.emplace(task.number(), &task).second;
        return success;
    });
    if (!status.ok()) return task.refuse(Verdict::no_memory);
    if (!is_new) return task.refuse(Verdict::invalid);
    say({task.ep(), Encoded(Preamble{Verb::need_type, 0, 0, task.number()}), true});
}

Task *Target::parked(uint32_t number, ucp_ep_h ep) const {
    const auto from = peers_.find(ep);
    if (from == peers_.end()) return nullptr;
    const auto found = from->second->parked.find(number);
    return found == from->second->parked.end() ? nullptr : found->second;
}

void Target::take_type(uint32_t number, Delivery &delivery) {
    Task *const task = parked(number, delivery.ep);
    if (task == nullptr) return;
    task->peer().parked.erase(number);
    task->receive_type(std::move(delivery.payload));
}

void Target::lose_type(uint32_t number, ucp_ep_h ep, Verdict verdict) {
    if (Task *const task = parked(number, ep); task != nullptr) task->refuse(verdict);
}

void Target::answer(ucp_ep_h ep, const Answer &answer) {
    if (ep != nullptr) say({ep, Encoded(answer), false}); // else the endpoint has failed
}

// If the account has no room for the message, it is not sent, and the peer is barred: it sends
// requests but does not receive the answers. A message for which there is no memory is sent later;
// it is lost if more had to wait than were reserved.
void Target::say(const Unsent &unsent) {
    if (try_to_say(unsent)) return;
    (void)without_exceptions([&] {
        unsent_.push_back(unsent);
        return success;
    });
}

bool Target::try_to_say(const Unsent &unsent) {
    bool refused;
    const Status status = without_exceptions([&] {
        return rma.messages.send_answer(unsent.ep, unsent.message, {}, 0, LedgerUse::message,
                                        &refused, unsent.alone);
    });
    return status.code() != UCD_ERR__OUT_OF_MEM; // any other failure is that of the endpoint
}

void Target::refuse(const Preamble &preamble, const Delivery &delivery, Verdict verdict) {
    (void)without_exceptions([&] {
        if (Peer *from = peer(delivery.ep); from != nullptr) from->earn(delivery.message.size());
        return success;
    });
    answer(delivery.ep, {verdict, UCD_SUCCESS, preamble.number, 0});
}

// Waiting ---------------------------------------------------------------------

void Target::wait(Task &task, bool first) {
    LinkedList<Task, Waiting>::remove(task); // from its window's queue
    if (task.ep() == nullptr) return end(task);
    Peer &of = task.peer();
    if (first)
        of.waiting.push_front(task);
    else
        of.waiting.push(task);
    if (!LinkedList<Peer>::has_list(of)) waiting_peers_.push(of);
    (void)advance(of);
}

// A loop, not recursion, because a task may end at once.
bool Target::advance(Peer &peer) {
    if (peer.advancing) return false;
    peer.advancing = true;
    bool any = false;
    while (!peer.waiting.empty()) {
        if (!may_work(peer)) {
            any = true;
            break;
        }
        note_turn(peer);
        Task &task = peer.waiting.pop();
        if (!task.start()) {
            peer.waiting.push_front(task);
            break;
        }
        any = true;
    }
    if (peer.waiting.empty()) LinkedList<Peer>::remove(peer);
    peer.advancing = false;
    return any;
}

void Target::advance_later(ucd_ucx_window &window) {
    if (!LinkedList<ucd_ucx_window>::has_list(window)) waiting_windows_.push(window);
}

bool Target::advance_all() {
    Queue<Task> unfinished = std::move(unfinished_);
    bool any = !unfinished.empty();
    while (!unfinished.empty()) unfinished.pop().move_pieces();
    // Those that have to wait again are put behind these.
    for (std::size_t left = waiting_windows_.size(); left > 0 && !waiting_windows_.empty();
         --left) {
        any = true;
        waiting_windows_.pop().advance();
    }
    for (std::size_t left = waiting_peers_.size(); left > 0 && !waiting_peers_.empty(); --left) {
        Peer &peer = waiting_peers_.pop();
        waiting_peers_.push(peer); // `advance` removes it when nothing waits any more
        any |= advance(peer);
    }
    return any;
}

void Target::end(Task &task) {
    Peer &peer = task.peer();
    ucd_ucx_window &window = task.window();
    const auto parked = peer.parked.find(task.number());
    if (parked != peer.parked.end() && parked->second == &task) peer.parked.erase(parked);
    peer.transfers -= task.has_transfer();
    window.at_work -= task.at_work();
    LinkedList<Task, Waiting>::remove(task);
    LinkedList<Task, OfWindow>::remove(task);
    (task.at_work() ? peer.at_work : peer.tasks).erase(task.place);
    window.advance();
}

bool Target::go_on() {
    bool any = end_gone();
    any |= end_lost();
    any |= advance_all();
    ends_left_ = ends_of_call;
    if (unsent_.empty()) return any;
    std::erase_if(unsent_, [this](const Unsent &u) { return try_to_say(u); });
    return true;
}

// Ends of operations that nobody waits for ---------------------------------------

Status Target::remove(ucd_ucx_window &window) {
    if (window.at_work > 0)
        return fail(UCD_ERR__INVALID_ARG, "*window has an operation at work on it");
    if (!rma.access.withdraw(window))
        return fail(UCD_ERR__INVALID_ARG, "*window is being accessed by an origin");
    const auto found = windows_.find(window.name);
    gone_.push_back(std::move(found->second));
    windows_.erase(found);
    for (auto &[ep, peer] : peers_) peer->forget(window);
    window.be_gone();
    (void)end_gone();
    rma.messages.send_gathered();
    return success;
}

void Target::on_endpoint_failed(ucp_ep_h ep) {
    std::erase_if(unsent_, [ep](const Unsent &u) { return u.ep == ep; });
    rma.messages.forget_gathered(ep);
    part_from(ep);
}

void Target::part_from(ucp_ep_h ep) {
    const auto found = peers_.find(ep);
    if (found == peers_.end()) return;
    lost_.push_back(std::move(found->second)); // allocates before anything changes
    peers_.erase(found);
    Peer &lost = *lost_.back();
    LinkedList<Peer>::remove(lost);
    lost.forget_endpoint();
    if (last_peer_ == &lost) last_peer_ = nullptr;
}

bool Target::end_lost() {
    bool any = false;
    for (auto at = lost_.begin(); at != lost_.end() && ends_left_ > 0;) {
        Peer &peer = **at;
        while (!peer.tasks.empty() && ends_left_ > 0) {
            --ends_left_;
            end(peer.tasks.front());
        }
        any = true;
        at = peer.tasks.empty() && peer.at_work.empty() ? lost_.erase(at) : std::next(at);
    }
    return any;
}

bool Target::end_gone() {
    for (auto at = gone_.begin(); at != gone_.end();) {
        ucd_ucx_window &window = **at;
        while (!window.tasks.empty() && ends_left_ > 0) {
            --ends_left_;
            window.tasks.front().refuse(Verdict::no_window);
        }
        if (!window.tasks.empty()) return true;
        LinkedList<ucd_ucx_window>::remove(window);
        at = gone_.erase(at);
    }
    return false;
}

} // namespace ucd_ucx::rma
