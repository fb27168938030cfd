#include "rma/rma_task.h"

#include "rma/one_sided.h"

#include <cstring>
#include <new>

namespace ucd_ucx::rma {

Task::Task(Target &target, Peer &peer, const Request &request, ucd_ucx_window &window,
           WindowHandle handle, const ContentId &type_id, Payload &&payload, Charge charge)
    : target_(target), peer_(peer), window_(window), request_(request), handle_(handle),
      type_id_(type_id), payload_(std::move(payload)), charge_(std::move(charge)) {
    if (request.form == TypeForm::flattened) copy_type(request.type);
    request_.type = {};
    payload_.keep();
}

void Task::enter(TaskState state) {
    const bool was_at_work = at_work();
    state_ = state;
    if (at_work() == was_at_work) return;
    std::list<Task> &from = was_at_work ? peer_.at_work : peer_.tasks;
    std::list<Task> &to = was_at_work ? peer_.tasks : peer_.at_work;
    to.splice(to.begin(), from, place);
    window_.at_work += was_at_work ? std::size_t{0} - 1 : 1;
}

Answer Task::result(Verdict verdict, int ucd) const {
    return {verdict, static_cast<uint8_t>(ucd), request_.number, handle_};
}

// The type ------------------------------------------------------------------

void Task::copy_type(std::string_view flattened) {
    flattened_bytes_ = flattened.size();
    // charged: charge_, or charge_of_type_ if it came by itself
    flattened_ = std::make_unique_for_overwrite<char[]>(flattened_bytes_);
    std::memcpy(flattened_.get(), flattened.data(), flattened_bytes_);
}

void Task::receive_type(Payload type) {
    flattened_bytes_ = type.bytes();
    const uint64_t bytes = flattened_bytes_ + (type.is_here() ? 0 : window_.transfer_bytes);
    if (!target_.types.is_possible(flattened_bytes_)) return refuse(Verdict::no_memory);
    const Status status = without_exceptions([&] {
        charge_of_type_ = target_.rma.engine.ledger.take(ep(), bytes, LedgerUse::request);
        if (charge_of_type_ && type.is_here()) copy_type(type.here());
        return success;
    });
    if (!status.ok() || !charge_of_type_) return refuse(Verdict::no_memory);
    if (!type.is_here()) type_data_ = std::move(type);
    target_.wait(*this);
}

Task::Step Task::receive_type_in_chunks() {
    if (!take_place_of_transfer()) return Step::waits;
    const Status status = without_exceptions([&] {
        // charged: charge_of_type_
        flattened_ = std::make_unique_for_overwrite<char[]>(flattened_bytes_);
        const Data to = {flattened_.get(), flattened_bytes_, UCD_TYPE__BYTE,
                         &target_.rma.engine.for_host};
        ucd_ucx_request_t transfer;
        return type_data_.receive(target_.rma.transfers, to, UCD_OP__REPLACE, UCD_INFO__NULL,
                                  {1, ep(), this}, &transfer);
    });
    if (!status.ok())
        refuse(verdict_of(status.code()));
    else
        enter(TaskState::receiving_type);
    return Step::over;
}

void Task::transfer_ended(const ucd_ucx_request &, const Result &result) {
    if (state_ == TaskState::receiving) return received(result.status, result.ucd);
    // If it was answering, the origin learns by itself how that ended.
    if (state_ != TaskState::receiving_type) return target_.end(*this);
    enter(TaskState::needs_type);
    if (result.status != UCS_OK) return refuse(Verdict::failed, result.ucd);
    charge_of_type_.shrink_to(flattened_bytes_);
    target_.wait(*this);
}

Task::Step Task::learn() {
    const std::string_view flattened(flattened_.get(), flattened_bytes_);
    const bool is_one = content_id(flattened.data(), flattened.size()) == type_id_;
    if (!is_one) return refuse(Verdict::invalid), Step::over;
    type_ = target_.types.find(type_id_); // another task may have received it
    if (type_ == nullptr) type_ = peer_.find_kept(type_id_);
    if (type_ == nullptr) {
        Ledger &ledger = target_.rma.engine.ledger;
        const uint64_t bytes = TypesOfTarget::bytes_of_type(flattened.size());
        // The type is on the peer's account if that can ever have room for it.
        Charge charge = ledger.is_possible(bytes, LedgerUse::type)
                            ? peer_.take(bytes, LedgerUse::type)
                            : target_.types.take_remembered(bytes);
        if (!charge) return Step::waits;
        constexpr uint64_t steps_of_byte = 25; // at most about 0.2 us
        ledger.note_work(ep(), steps_of_byte * flattened.size());
        bool remembered = false;
        const Status status = target_.types.learn(flattened, std::move(charge), type_, &remembered);
        if (!status.ok()) return refuse(verdict_of(status.code())), Step::over;
        if (!remembered) peer_.keep(type_);
    }
    flattened_.reset();
    charge_of_type_.give_back();
    enter(TaskState::unchecked);
    return Step::done;
}

// The turn ------------------------------------------------------------------

bool Task::start() {
    if (window_.is_gone()) return refuse(Verdict::no_window), true;
    const Step step = guarded(&Task::prepare);
    if (step != Step::done) return step == Step::over;
    if (state_ == TaskState::done) {
        enter(TaskState::answering);
        send_data({old_.get(), bytes_, UCD_TYPE__BYTE, &target_.rma.engine.for_host},
                  UCD_INFO__NULL);
    } else if (accumulates(request_.verb)) {
        window_.enqueue(*this);
    } else if (request_.verb == Verb::put) {
        receive();
    } else {
        enter(TaskState::answering);
        send_data({window_.at(request_.displacement), request_.count, type_->type.get(),
                   &window_.to_read},
                  window_.info.get());
    }
    return true;
}

// Refuses the operation if the step fails.
Task::Step Task::guarded(Step (Task::*step)()) {
    Step result = Step::over;
    const Status status = without_exceptions([&] {
        result = (this->*step)();
        return success;
    });
    if (!status.ok()) refuse(verdict_of(status.code()));
    return result;
}

// Goes on until data can be moved.
Task::Step Task::prepare() {
    if (state_ == TaskState::done) return take_answer() ? Step::done : Step::waits;
    Step step = Step::done;
    if (state_ == TaskState::needs_type) {
        if (!type_data_.is_here()) return receive_type_in_chunks();
        step = learn();
    }
    if (step == Step::done && state_ == TaskState::unchecked) step = check();
    // Accumulates take the other charges when it is their turn in the window's queue, so that
    // waiting there holds nothing that others need.
    if (step != Step::done || (accumulates(request_.verb) && state_ == TaskState::checked))
        return step;
    step = take_moves();
    if (step == Step::done && request_.verb == Verb::get && !take_answer()) return Step::waits;
    return step;
}

Task::Step Task::check() {
    Target::Checked checked;
    const std::optional<Verdict> verdict =
        target_.check(request_, window_, *type_, ep(), payload_.bytes(), checked);
    if (!verdict) return Step::waits;
    if (*verdict != Verdict::done) return refuse(*verdict), Step::over;
    bytes_ = checked.layout->bytes;
    segments_ = checked.segments;
    if (accumulates(request_.verb) && bytes_ > 0) granule_ = type_->element_bytes;
    enter(TaskState::checked);
    return Step::done;
}

// Data is returned in one message, or in chunks.
bool Task::answers_in_chunks() const {
    const WorkerEngine &engine = target_.rma.engine;
    // performance only: one message or several have the same result
    const uint64_t eager =
        request_.verb == Verb::get ? window_.eager : direct_limit(engine.options, engine.for_host);
    return fetches(request_.verb) && bytes_ > eager;
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
    if (state_ == TaskState::charged) return Step::done;
    const unsigned transfers = (payload_.is_here() ? 0 : 1) + (answers_in_chunks() ? 1 : 0);
    // Accumulates do not count: only one at a time moves data in a window.
    const bool is_limited = transfers > 0 && !accumulates(request_.verb);
    if (is_limited && !take_place_of_transfer()) return Step::waits;
    const uint64_t bytes =
        transfers * window_.transfer_bytes + (request_.verb == Verb::get_accumulate ? bytes_ : 0);
    if (!target_.rma.engine.ledger.is_possible(bytes, LedgerUse::move))
        return refuse(Verdict::no_memory), Step::over;
    if (bytes > 0 && !(charge_of_transfers_ = peer_.take(bytes, LedgerUse::move)))
        return Step::waits;
    enter(TaskState::charged);
    return Step::done;
}

bool Task::take_answer() {
    if (!fetches(request_.verb) || answers_in_chunks()) return true;
    const uint64_t answer = Preamble::bytes + sizeof(WindowHandle) + bytes_;
    charge_of_answer_ = peer_.take(ShortMessages::bytes_of_message(answer), LedgerUse::chunk);
    return static_cast<bool>(charge_of_answer_);
}

// Moving ----------------------------------------------------------------------

void Task::take_turn() {
    if (ep() == nullptr) return target_.end(*this);
    if (window_.is_gone()) return refuse(Verdict::no_window);
    const Step step = guarded(&Task::take_moves);
    if (step == Step::over) return;
    if (step == Step::waits) { // do not wait in the window's queue, where others wait
        enter(TaskState::takes_early);
        return target_.wait(*this);
    }
    if (fetches(request_.verb)) return fetch();
    receive();
}

void Task::fetch() {
    enter(TaskState::fetching);
    // At least one byte, so that a null pointer always means failure. charged: charge_of_transfers_
    old_.reset(new (std::nothrow) char[bytes_ + 1]);
    if (old_ == nullptr) return refuse(Verdict::no_memory);
    move_pieces();
}

// A device gets everything at once; the host's work is divided among calls of progress.
void Task::move_pieces() {
    const bool receives = state_ == TaskState::receiving;
    const BufferHints &hints = receives ? window_.to_write : window_.to_read;
    Ledger &ledger = target_.rma.engine.ledger;
    char *const at = window_.at(request_.displacement);
    int rc = UCD_SUCCESS;
    while (moved_ < bytes_ && rc == UCD_SUCCESS) {
        if (ep() == nullptr) return refuse(Verdict::failed);
        if (!ledger.may_work(ep())) return target_.continue_later(*this);
        const uint64_t left = bytes_ - moved_;
        // performance only: the first piece needs no division, and the same number comes out
        const uint64_t steps =
            moved_ == 0 ? steps_of(bytes_, segments_) : steps_of(left, segments_, bytes_);
        const uint64_t piece = hints.on_host ? piece_of(left, steps, granule_) : left;
        uintptr_t done;
        rc = receives
                 ? ucd_iunpack(payload_.here().data() + moved_, piece, at, request_.count,
                               type_->type.get(), moved_, &done, hints.info.get(), request_.op,
                               &moving)
                 : ucd_ipack(at, request_.count, type_->type.get(), moved_, old_.get() + moved_,
                             piece, &done, hints.info.get(), UCD_OP__REPLACE, &moving);
        if (hints.on_host)
            ledger.note_work(ep(), piece == left ? steps : steps_of(piece, segments_, bytes_));
        moved_ += piece;
        if (rc != UCD_SUCCESS) moving = UCD_REQUEST__NULL;
        if (moving != UCD_REQUEST__NULL) return target_.rma.engine.await(*this);
    }
    moved(Status(rc));
}

void Task::moved(Status status) {
    if (state_ == TaskState::fetching) return fetched(status);
    received(ucx_status_of(status.code()), status.code());
}

void Task::fetched(Status status) {
    if (!status.ok()) return refuse(verdict_of(status.code()), status.code());
    if (request_.op != UCD_UCX_OP__NO_OP) return receive();
    received(UCS_OK, UCD_SUCCESS);
}

void Task::receive() {
    enter(TaskState::receiving);
    const Data to = {window_.at(request_.displacement), request_.count, type_->type.get(),
                     &window_.to_write};
    moved_ = 0;
    if (payload_.is_here()) return move_pieces();
    ucd_ucx_request_t transfer;
    const Status status = without_exceptions([&] {
        return payload_.receive(target_.rma.transfers, to, request_.op, window_.info.get(),
                                {granule_, ep(), this}, &transfer);
    });
    if (!status.ok()) refuse(verdict_of(status.code()), status.code());
}

void Task::received(ucs_status_t status, int ucd) {
    if (status != UCS_OK) {
        const Verdict verdict = verdict_of(ucd);
        return refuse(verdict == Verdict::done ? Verdict::failed : verdict, ucd);
    }
    payload_ = Payload();
    if (fetches(request_.verb)) {
        ucd_ucx_window &window = window_;
        enter(TaskState::done);
        target_.wait(*this, true);
        return window.advance();
    }
    target_.answer(ep(), result(Verdict::done));
    target_.end(*this);
}

void Task::send_data(const Data &data, ucd_info_t info) {
    if (ep() == nullptr) return target_.end(*this);
    ucd_ucx_request_t transfer = UCD_UCX_REQUEST__NULL;
    const Status status = without_exceptions([&]() -> Status {
        const Encoded answer(result(Verdict::done));
        if (!answers_in_chunks()) {
            target_.rma.engine.ledger.note_work(ep(), steps_of(bytes_, segments_));
            return target_.rma.messages.send(ep(), answer, data, bytes_, no_operation,
                                             charge_of_answer_);
        }
        return target_.rma.send(ep(), answer, data, info, {granule_, ep(), this}, &transfer);
    });
    if (!status.ok()) return refuse(verdict_of(status.code()), status.code());
    if (transfer == UCD_UCX_REQUEST__NULL) target_.end(*this);
}

void Task::refuse(Verdict verdict, int ucd) {
    target_.answer(ep(), result(verdict, ucd));
    target_.end(*this);
}

} // namespace ucd_ucx::rma
