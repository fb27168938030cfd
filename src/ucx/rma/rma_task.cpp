#include "rma/rma_task.h"

#include "rma/one_sided.h"

namespace ucd_ucx::rma {

Task::Task(Target &target, Peer &peer, const Request &request, Found &&found, Payload &&payload,
           Charge charge)
    : target_(target), peer_(peer), window_(*found.window), request_(request),
      handle_(found.handle), type_id_(found.type_id), payload_(std::move(payload)),
      charge_(std::move(charge)) {
    if (found.type != nullptr) {
        type_ = found.owner != nullptr ? std::move(found.owner) : target.types.find(type_id_);
        state_ = TaskState::unchecked;
    } else if (request.form == TypeForm::flattened) {
        // charged: charge_
        flattened_.assign(request.type.begin(), request.type.end());
    }
    request_.type = {};
    payload_.keep();
    peer_.tasks.push(*this);
    window_.tasks.push(*this);
}

Task::~Task() {
    const auto parked = peer_.parked.find(number());
    if (parked != peer_.parked.end() && parked->second == this) peer_.parked.erase(parked);
    peer_.transfers -= has_transfer_;
    window_.at_work -= at_work();
    LinkedList<Task, Waiting>::remove(*this);
    LinkedList<Task, InTurn>::remove(*this);
    LinkedList<Task, OfWindow>::remove(*this);
    LinkedList<Task, OfPeer>::remove(*this);
}

void Task::enter(TaskState state) {
    window_.at_work -= at_work();
    state_ = state;
    window_.at_work += at_work();
}

// The type ------------------------------------------------------------------

void Task::receive_type(Payload type) {
    const uint64_t bytes = type.bytes() + (type.is_here() ? 0 : window_.transfer_bytes);
    if (!target_.types.is_possible(type.bytes())) return finish(Verdict::no_memory);
    const Status status = without_exceptions([&] {
        charge_of_type_ = target_.rma.engine.ledger.take(ep(), bytes, LedgerUse::request);
        // charged: charge_of_type_
        if (charge_of_type_) flattened_.assign(type.here().begin(), type.here().end());
        return success;
    });
    if (!status.ok() || !charge_of_type_) return finish(Verdict::no_memory);
    if (!type.is_here()) type_data_ = std::move(type);
    target_.wait(*this);
}

Task::Step Task::receive_type_in_chunks() {
    if (!take_place_of_transfer()) return std::nullopt;
    // charged: charge_of_type_
    flattened_.resize(type_data_.bytes());
    const Data to = {flattened_.data(), flattened_.size(), UCD_TYPE__BYTE,
                     &target_.rma.engine.for_host};
    ucd_ucx_request_t transfer;
    const Status status = type_data_.receive(target_.rma.transfers, to, UCD_OP__REPLACE,
                                             UCD_INFO__NULL, {1, ep(), this}, &transfer);
    if (status.ok()) enter(TaskState::receiving_type);
    return verdict_of(status.code());
}

Task::Step Task::learn() {
    const std::string_view flattened(flattened_.data(), flattened_.size());
    const ContentId id = content_id(flattened.data(), flattened.size());
    if (request_.form == TypeForm::known && type_id_ == ContentId{}) {
        const Verdict verdict = peer_.remember(request_.type_index, id);
        if (verdict != Verdict::done) return verdict;
        type_id_ = id;
    }
    if (id != type_id_) return Verdict::invalid;
    type_ = peer_.find_type(target_.types, type_id_); // another task may have received it
    if (type_ == nullptr) {
        Ledger &ledger = target_.rma.engine.ledger;
        const uint64_t bytes = TypesOfTarget::bytes_of_type(flattened.size());
        // The type is on the peer's account if that can ever have room for it.
        Charge charge = ledger.is_possible(bytes, LedgerUse::type)
                            ? peer_.take(bytes, LedgerUse::type)
                            : target_.types.take_remembered(bytes);
        if (!charge) return std::nullopt;
        constexpr uint64_t steps_of_byte = 25; // at most about 0.2 us
        ledger.note_work(ep(), steps_of_byte * flattened.size());
        bool remembered = false;
        const Status status = target_.types.learn(flattened, std::move(charge), type_, &remembered);
        if (!status.ok()) return verdict_of(status.code());
        if (!remembered) peer_.keep(type_);
    }
    flattened_ = std::vector<char>();
    charge_of_type_.give_back();
    enter(TaskState::unchecked);
    return Verdict::done;
}

// The turn ------------------------------------------------------------------

bool Task::start() {
    if (at_work()) return move_pieces(), true;
    const Step step = window_.is_gone() ? Verdict::no_window : prepare();
    if (!step) return false;
    if (*step != Verdict::done) return finish(*step), true;
    if (state_ == TaskState::receiving_type) return true;
    if (state_ == TaskState::done || request_.verb == Verb::get) return send_data();
    if (accumulates(request_.verb))
        window_.enqueue(*this);
    else
        receive();
    return true;
}

// Goes on until data can be moved.
Task::Step Task::prepare() {
    Step step = Verdict::done;
    const Status status = without_exceptions([&] {
        if (state_ == TaskState::needs_type)
            step = type_data_.is_here() ? learn() : receive_type_in_chunks();
        if (state_ == TaskState::unchecked) step = check();
        // Accumulates take the charges for moves when it is their turn in the window's queue, so
        // that waiting there holds nothing that others need.
        const bool is_its_turn =
            !accumulates(request_.verb) || LinkedList<Task, InTurn>::has_list(*this);
        if (state_ == TaskState::takes_early || (state_ == TaskState::checked && is_its_turn))
            step = take_moves();
        return success;
    });
    return status.ok() ? step : verdict_of(status.code());
}

Task::Step Task::check() {
    Found found = {&window_, handle_, type_.get()};
    const Step verdict = target_.check(request_, found, peer_, payload_.bytes());
    if (verdict != Verdict::done) return verdict;
    bytes_ = found.layout->bytes;
    segments_ = found.segments;
    if (accumulates(request_.verb) && bytes_ > 0) granule_ = type_->element_bytes;
    enter(TaskState::checked);
    return verdict;
}

// Data is returned in one message, or in chunks; always in chunks if the peer's budget never has
// room for one message.
bool Task::answers_in_chunks() const {
    const WorkerEngine &engine = target_.rma.engine;
    // performance only: one message or several have the same result
    const uint64_t eager =
        request_.verb == Verb::get ? window_.eager : direct_limit(engine.options, engine.for_host);
    const uint64_t message = Encoded(result(Verdict::done)).size() + bytes_;
    return fetches(request_.verb) &&
           (bytes_ > eager ||
            !engine.ledger.is_possible(ShortMessages::charge_of(message), LedgerUse::chunk));
}

bool Task::take_place_of_transfer() {
    if (has_transfer_) return true;
    if (peer_.transfers >= Peer::max_transfers) return false;
    ++peer_.transfers;
    has_transfer_ = true;
    return true;
}

// Does not include chunks, which are charged one by one.
Task::Step Task::take_moves() {
    const unsigned transfers = (payload_.is_here() ? 0 : 1) + (answers_in_chunks() ? 1 : 0);
    // Accumulates do not count: only one at a time moves data in a window.
    const bool is_limited = transfers > 0 && !accumulates(request_.verb);
    if (is_limited && !take_place_of_transfer()) return std::nullopt;
    const uint64_t bytes =
        transfers * window_.transfer_bytes + (request_.verb == Verb::get_accumulate ? bytes_ : 0);
    if (!target_.rma.engine.ledger.is_possible(bytes, LedgerUse::move)) return Verdict::no_memory;
    if (bytes > 0 && !(charge_of_transfers_ = peer_.take(bytes, LedgerUse::move)))
        return std::nullopt;
    // charged: charge_of_transfers_
    if (request_.verb == Verb::get_accumulate)
        old_ = std::make_unique_for_overwrite<char[]>(bytes_);
    enter(TaskState::charged);
    return Verdict::done;
}

// Moving ----------------------------------------------------------------------

void Task::take_turn() {
    const Step step = prepare();
    if (!step) { // do not wait in the window's queue, where others wait
        enter(TaskState::takes_early);
        return target_.wait(*this);
    }
    if (*step != Verdict::done) return finish(*step);
    if (!fetches(request_.verb)) return receive();
    enter(TaskState::fetching);
    move_pieces();
}

void Task::receive() {
    enter(TaskState::receiving);
    moved_ = 0;
    if (payload_.is_here()) return move_pieces();
    ucd_ucx_request_t transfer;
    const Status status = without_exceptions([&] {
        return payload_.receive(target_.rma.transfers, window_data(window_.to_write), request_.op,
                                window_.info.get(), {granule_, ep(), this}, &transfer);
    });
    if (!status.ok()) finish(verdict_of(status.code()), status.code());
}

// A device gets everything at once; the host's work is divided among calls of progress.
void Task::move_pieces() {
    const bool receives = state_ == TaskState::receiving;
    const Data data = window_data(receives ? window_.to_write : window_.to_read);
    const bool on_host = data.hints->on_host;
    const ucd_info_t hints = data.hints->info.get();
    Ledger &ledger = target_.rma.engine.ledger;
    int rc = UCD_SUCCESS;
    while (moved_ < bytes_ && rc == UCD_SUCCESS) {
        if (ep() == nullptr || !ledger.may_work(ep())) return target_.wait(*this, true);
        const uint64_t left = bytes_ - moved_;
        // performance only: the first piece needs no division, and the same number comes out
        const uint64_t steps =
            moved_ == 0 ? steps_of(bytes_, segments_) : steps_of(left, segments_, bytes_);
        const uint64_t piece = on_host ? piece_of(left, steps, granule_) : left;
        uintptr_t done;
        rc = receives
                 ? ucd_iunpack(payload_.here().data() + moved_, piece, const_cast<void *>(data.buf),
                               data.count, data.type, moved_, &done, hints, request_.op, &moving)
                 : ucd_ipack(data.buf, data.count, data.type, moved_, old_.get() + moved_, piece,
                             &done, hints, UCD_OP__REPLACE, &moving);
        if (on_host)
            ledger.note_work(ep(), piece == left ? steps : steps_of(piece, segments_, bytes_));
        moved_ += piece;
        if (rc != UCD_SUCCESS) moving = UCD_REQUEST__NULL;
        if (moving != UCD_REQUEST__NULL) return target_.rma.engine.await(*this);
    }
    moved(Status(rc));
}

void Task::ended(ucs_status_t status, int ucd) {
    // If it was answering, the origin learns by itself how that ended.
    if (state_ == TaskState::answering) return target_.end(*this);
    if (status != UCS_OK) {
        const Verdict verdict = verdict_of(ucd);
        return finish(verdict == Verdict::done ? Verdict::failed : verdict, ucd);
    }
    if (state_ == TaskState::receiving_type) {
        enter(TaskState::needs_type);
        charge_of_type_.shrink_to(flattened_.size());
        return target_.wait(*this);
    }
    if (state_ == TaskState::fetching && request_.op != UCD_UCX_OP__NO_OP) return receive();
    if (!fetches(request_.verb)) return finish(Verdict::done);
    payload_ = Payload();
    ucd_ucx_window &window = window_;
    enter(TaskState::done);
    target_.wait(*this, true);
    window.advance();
}

// Returns false if the account has no room for the answer.
bool Task::send_data() {
    const bool was_fetched = state_ == TaskState::done;
    const Data data = was_fetched
                          ? Data{old_.get(), bytes_, UCD_TYPE__BYTE, &target_.rma.engine.for_host}
                          : window_data(window_.to_read);
    const ucd_info_t info = was_fetched ? UCD_INFO__NULL : window_.info.get();
    bool refused = false;
    ucd_ucx_request_t transfer = UCD_UCX_REQUEST__NULL;
    const Status status = without_exceptions([&] {
        const Encoded answer(result(Verdict::done));
        if (!answers_in_chunks())
            return target_.rma.messages.send_answer(ep(), {answer, data, bytes_}, LedgerUse::chunk,
                                                    &refused, true);
        enter(TaskState::answering);
        return target_.rma.send(ep(), answer, data, info, {granule_, ep(), this}, &transfer);
    });
    if (refused) return false;
    if (!status.ok()) {
        finish(verdict_of(status.code()), status.code());
    } else if (transfer == UCD_UCX_REQUEST__NULL) {
        target_.rma.engine.ledger.note_work(ep(), steps_of(bytes_, segments_));
        target_.end(*this);
    }
    return true;
}

void Task::finish(Verdict verdict, int ucd) {
    target_.answer(ep(), result(verdict, ucd));
    target_.end(*this);
}

} // namespace ucd_ucx::rma
