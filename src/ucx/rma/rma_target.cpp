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

} // namespace

Status write(ucd_op_t op, const ucd_layout_t &layout, const char *data, const Data &to) {
    if (layout.contiguous != 0 && op == UCD_OP__REPLACE) {
        std::memcpy(address_at(to.buf, layout.low), data, layout.bytes);
        return success;
    }
    uintptr_t unpacked;
    return ucd_ok(ucd_unpack(data, layout.bytes, const_cast<void *>(to.buf), to.count, to.type, 0,
                             &unpacked, to.hints->info.get(), op));
}

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
    : rma(owner), types(owner.transfers.types_of_peers), ledger_(owner.engine.ledger),
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

void Target::take_request(Delivery &delivery) {
    Answer refusal = {Verdict::done, UCD_SUCCESS, delivery.preamble.number, 0};
    const Status status = without_exceptions([&] {
        refusal.verdict = begin(delivery, refusal.handle);
        return success;
    });
    if (!status.ok()) refusal.verdict = verdict_of(status.code());
    if (refusal.verdict != Verdict::done) answer(delivery.ep, refusal);
}

// Returns why the request is refused, or `done`. If it throws, it has not answered or begun
// anything. Once a Task is created, it deletes itself.
Verdict Target::begin(Delivery &delivery, WindowHandle &handle) {
    Peer *const from = peer(delivery.ep);
    if (from == nullptr) return Verdict::done;
    from->earn(delivery.message.size());
    Request request;
    Found found;
    Verdict verdict = delivery.read(request);
    if (verdict == Verdict::done) verdict = find(request, *from, found);
    handle = found.handle;
    if (verdict != Verdict::done) return verdict;
    if (rma.engine.options.direct != Trust::none)
        (void)without_exceptions([&] {
            rma.access.offer(delivery.ep, *found.window);
            return success;
        });
    Payload &payload = delivery.payload;
    const bool reads_only = request.verb == Verb::get || request.op < 0;
    if (reads_only && payload.bytes() > 0) return Verdict::invalid;
    if (do_at_once(request, found, *from, delivery)) return Verdict::done;
    const bool is_to_be_built = found.type == nullptr && request.form == TypeForm::flattened;
    if (is_to_be_built && !types.is_possible(request.type.size())) return Verdict::no_memory;
    Charge charge;
    if (from->tasks.size() < peer_operations_)
        charge = from->take(bytes_of_task + request.type.size() +
                                (payload.is_here() ? delivery.message.size() : 0),
                            LedgerUse::request);
    if (!charge) return Verdict::no_memory;
    Task &task =
        *new Task(*this, *from, request, std::move(found), std::move(payload), std::move(charge));
    if (task.needs_type() && !is_to_be_built)
        park(task);
    else
        wait(task);
    return Verdict::done;
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
    if (request.form == TypeForm::known) {
        // The endpoint's origin may have learned an index that was never used from an earlier
        // object of this worker. It is asked for the type.
        found.type = peer.type(request.type_index, types, found.type_id, found.owner);
        return request.type_index < Peer::max_types ? Verdict::done : Verdict::invalid;
    }
    if (request.form == TypeForm::name)
        std::copy_n(request.type.begin(), found.type_id.size(), found.type_id.begin());
    else
        found.type_id = content_id(request.type.data(), request.type.size());
    found.owner = peer.find_type(types, found.type_id);
    found.type = found.owner.get();
    return request.type_index == Request::no_index
               ? Verdict::done
               : peer.remember(request.type_index, found.type_id);
}

// Does a request that needs no Task: its data is here or will be sent as one message, the window is
// in host memory, and the work is not longer than a call of progress allows. Returns false for
// others, and if the account has no room for the answer.
bool Target::do_at_once(const Request &request, Found &found, Peer &from,
                        const Delivery &delivery) {
    ucd_ucx_window &window = *found.window;
    const bool reads = request.verb == Verb::get, combines = accumulates(request.verb);
    const BufferHints &hints = reads ? window.to_read : window.to_write;
    if (found.type == nullptr || request.verb == Verb::get_accumulate || !hints.on_host ||
        !delivery.payload.is_here() || !ledger_.may_work(delivery.ep))
        return false;
    const std::optional<Verdict> verdict = check(request, found, from, delivery.payload.bytes());
    if (!verdict) return false;
    Answer result = {*verdict, UCD_SUCCESS, request.number, found.handle};
    if (*verdict == Verdict::done && found.layout->bytes > 0) {
        const ucd_layout_t &layout = *found.layout;
        const uint64_t steps = steps_of(layout.bytes, found.segments);
        if (steps > Ledger::steps_of_call / 2 || (reads && layout.bytes > window.eager))
            return false;
        if (combines && !(window.is_idle() && window.take_turn())) return false;
        const Data data = {window.at(request.displacement), request.count, found.type->type.get(),
                           &hints};
        bool refused = false;
        const Status status =
            reads ? rma.messages.send_answer(delivery.ep, {Encoded(result), data, layout.bytes},
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

std::optional<Verdict> Target::check(const Request &request, Found &found, Peer &from,
                                     uint64_t data_bytes) {
    const PeerType &type = *found.type;
    const int rc = type.measure(request.count, found.layout).code();
    if (rc == UCD_ERR__OVERFLOW) return Verdict::out_of_range;
    if (rc != UCD_SUCCESS) return verdict_of(rc);
    const ucd_layout_t &layout = *found.layout;
    found.segments = layout.segments;
    const bool sends = request.verb != Verb::get && request.op >= 0;
    if (sends && data_bytes != layout.bytes) return Verdict::invalid;
    if (layout.bytes == 0) return Verdict::done;
    if (!is_within(request.displacement, layout.low, layout.high, found.window->bytes))
        return Verdict::out_of_range;
    if (accumulates(request.verb) && type.element == 0) return Verdict::invalid;
    if (accumulates(request.verb) && request.op > UCD_OP__REPLACE)
        found.segments +=
            steps_of_op(type.one.element, type.element_bytes, request.op, layout.bytes);
    if (!sends) return Verdict::done;
    Overlap overlap;
    bool must_wait;
    const Status searched =
        type.find_overlap(request.count, ledger_, from.ep(), from.work, overlap, &must_wait);
    if (must_wait) return std::nullopt;
    if (!searched.ok()) return verdict_of(searched.code());
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
    if (!status.ok()) return task.finish(Verdict::no_memory);
    if (!is_new) return task.finish(Verdict::invalid);
    say({task.ep(), Encoded(Preamble{Verb::need_type, 0, 0, task.number()}), true});
}

void Target::take_type(Delivery &delivery) {
    const auto from = peers_.find(delivery.ep);
    if (from == peers_.end()) return;
    std::map<uint32_t, Task *> &parked = from->second->parked;
    const auto found = parked.find(delivery.preamble.number);
    if (found == parked.end()) return;
    Task &task = *found->second;
    parked.erase(found);
    const bool is_good = delivery.set_data(delivery.message.substr(Preamble::bytes));
    if (delivery.readable != Verdict::done) return task.finish(delivery.readable);
    if (!is_good) return task.finish(Verdict::invalid);
    task.receive_type(std::move(delivery.payload));
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
        return rma.messages.send_answer(unsent.ep, {unsent.message}, LedgerUse::message, &refused,
                                        unsent.alone);
    });
    return status.code() != UCD_ERR__OUT_OF_MEM; // any other failure is that of the endpoint
}

// Waiting ---------------------------------------------------------------------

void Target::wait(Task &task, bool first) {
    if (!task.at_work()) LinkedList<Task, InTurn>::remove(task);
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
        if (!begin_turn(peer)) {
            any = true;
            break;
        }
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

bool Target::progress() {
    bool any = end_tasks_of(gone_);
    any |= end_tasks_of(lost_);
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
    ends_left_ = ends_of_call;
    if (unsent_.empty()) return any;
    std::erase_if(unsent_, [this](const Unsent &u) { return try_to_say(u); });
    return true;
}

void Target::end(Task &task) {
    ucd_ucx_window &window = task.window();
    delete &task;
    window.advance();
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
    (void)end_tasks_of(gone_);
    rma.messages.send_gathered();
    return success;
}

void Target::on_endpoint_failed(ucp_ep_h ep) {
    std::erase_if(unsent_, [ep](const Unsent &u) { return u.ep == ep; });
    rma.messages.forget_gathered(ep);
    on_barred(ep);
}

void Target::on_barred(ucp_ep_h ep) {
    const auto found = peers_.find(ep);
    if (found == peers_.end()) return;
    lost_.push_back(std::move(found->second)); // allocates before anything changes
    peers_.erase(found);
    Peer &lost = *lost_.back();
    LinkedList<Peer>::remove(lost);
    lost.forget_endpoint();
    if (last_peer_ == &lost) last_peer_ = nullptr;
}

// Each task is looked at once in a call. One that something else still has ends with that.
template <class Owner>
bool Target::end_tasks_of(std::list<std::unique_ptr<Owner>> &owners) {
    const bool any = !owners.empty();
    for (auto at = owners.begin(); at != owners.end() && ends_left_ > 0;) {
        auto &tasks = (*at)->tasks;
        for (uint64_t left = tasks.size(); left > 0 && ends_left_ > 0; --left) {
            --ends_left_;
            Task &task = tasks.pop();
            tasks.push(task);
            if (!task.is_awaited()) task.finish(Verdict::no_window);
        }
        at = tasks.empty() ? owners.erase(at) : std::next(at);
    }
    return any;
}

} // namespace ucd_ucx::rma
