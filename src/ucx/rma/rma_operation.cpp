#include "rma/rma_operation.h"

#include "common/recycled_memory.h"
#include "rma/one_sided.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ucd_ucx::rma {
namespace {

// Copies all keys that a transfer may read later, except hints.
Status copy_keys(ucd_info_t from, OwnedInfo &to) {
    return from == UCD_INFO__NULL ? success : copy_transfer_options(from, to);
}

Status packed_bytes(uint64_t count, uint64_t one, uint64_t &bytes) {
    if (__builtin_mul_overflow(one, count, &bytes) || bytes > INTPTR_MAX)
        return fail(UCD_ERR__OVERFLOW, "count is %s; that many of the type exceed INTPTR_MAX",
                    ucd_base::CountText(count).text);
    return success;
}

const char *function_of(Verb verb) {
    switch (verb) {
    case Verb::put: return "ucd_ucx_put_nbx";
    case Verb::get: return "ucd_ucx_get_nbx";
    case Verb::accumulate: return "ucd_ucx_accumulate_nbx";
    default: return "ucd_ucx_get_accumulate_nbx";
    }
}

Status check_bytes(uint64_t here, uint64_t there) {
    if (here == there) return success;
    return fail(UCD_ERR__INVALID_ARG, "there are %ju bytes at the origin, and %ju at the target",
                static_cast<uintmax_t>(here), static_cast<uintmax_t>(there));
}

RecycledMemory<sizeof(RmaOperation), 64> memory_of_operations;

} // namespace

void *RmaOperation::operator new(std::size_t) {
    return memory_of_operations.take();
}

void RmaOperation::operator delete(void *memory) {
    memory_of_operations.give_back(memory);
}

Status Flush::set(const TransferOptions &options, const ucd_ucx_param_t *param) {
    ucd_info_t info;
    return ucd_ucx_request::set(options, param, info);
}

bool Flush::one_ended(const Result &result) {
    if (status_ == UCS_OK) {
        status_ = result.status;
        ucd_ = result.ucd;
    }
    if (--remaining_ > 0) return false;
    complete({status_, ucd_, 0, 0});
    return true;
}

bool RepeatedOperation::has(const RmaArguments &a) const {
    const auto are_same = [](const Data &one, const Data &other) {
        return one.type == other.type && one.count == other.count;
    };
    const bool has_no_info = a.param == nullptr || (a.param->struct_size >= sizeof *a.param &&
                                                    a.param->info == UCD_INFO__NULL);
    return type != nullptr && has_no_info && a.op == op && are_same(a.target, target) &&
           are_same(a.sent, sent) && are_same(a.received, received) &&
           std::memcmp(a.key->bytes, key.bytes, sizeof key.bytes) == 0;
}

// Types that differ from the target's are looked up, so that their handles stay theirs.
void RmaOperation::note_for_repetition(const RmaArguments &a, const Encoded &request,
                                       RepeatedOperation &repeated) {
    repeated.type.reset();
    if (has_info_ || bytes_ == 0) return;
    const Status status = without_exceptions([&] {
        repeated.sent_type.reset();
        repeated.received_type.reset();
        if (sent_bytes_ > 0 && a.sent.type != a.target.type)
            UCD_TRY(origin_.types.find(a.sent.type, repeated.sent_type));
        if (fetches(a.verb) && a.received.type != a.target.type)
            UCD_TRY(origin_.types.find(a.received.type, repeated.received_type));
        return success;
    });
    if (!status.ok()) return;
    repeated.key = *a.key;
    repeated.sent = {nullptr, a.sent.count, a.sent.type};
    repeated.received = {nullptr, a.received.count, a.received.type};
    repeated.target = {nullptr, a.target.count, a.target.type};
    repeated.op = a.op;
    repeated.window = window_;
    repeated.bytes = bytes_;
    repeated.sent_bytes = sent_bytes_;
    repeated.granule = granule_;
    repeated.request = request;
    repeated.type = type_;
}

Status RmaOperation::set(const RmaArguments &arguments, const RepeatedOperation &before) {
    arguments_ = arguments;
    ucd_info_t info;
    UCD_TRY(ucd_ucx_request::set(origin_.rma.engine.options, arguments.param, info));
    type_ = before.type;
    bytes_ = before.bytes;
    sent_bytes_ = before.sent_bytes;
    granule_ = before.granule;
    window_ = before.window;
    if (arguments.sent.type == arguments.target.type) arguments_.sent.type = type_->type.get();
    if (sent_bytes_ > 0)
        UCD_TRY(find_hints_of(arguments_.sent, info, TransferDirection::send, sent_hints_));
    if (fetches(arguments.verb)) {
        UCD_TRY(keep_received_type());
        UCD_TRY(
            find_hints_of(arguments_.received, info, TransferDirection::receive, received_hints_));
    }
    since_ = origin_.rma.engine.events.now();
    note_progress();
    return success;
}

Status RmaOperation::keep_received_type() {
    ucd_type_t &type = arguments_.received.type;
    if (type == arguments_.target.type) {
        type = type_->type.get();
        return success;
    }
    UCD_TRY(received_type_.keep(type));
    type = received_type_.get();
    return success;
}

Status RmaOperation::set(const RmaArguments &arguments) {
    arguments_ = arguments;
    ucd_info_t info;
    UCD_TRY(ucd_ucx_request::set(origin_.rma.engine.options, arguments.param, info));
    has_info_ = info != UCD_INFO__NULL;
    UCD_TRY(copy_keys(info, info_));
    UCD_TRY(of_argument("target_", origin_.types.find(arguments.target.type, type_)));
    UCD_TRY(of_argument("target_", packed_bytes(arguments.target.count, type_->one.bytes, bytes_)));
    if (accumulates(arguments.verb) && bytes_ > 0) UCD_TRY(check_element());
    const bool sends = arguments.verb != Verb::get && arguments.op != UCD_UCX_OP__NO_OP;
    if (sends) {
        Data &from = arguments_.sent;
        UCD_TRY(of_argument("origin_", check_data(from)));
        if (from.type == arguments.target.type) from.type = type_->type.get(); // is kept anyway
        sent_bytes_ = bytes_;
        UCD_TRY(find_hints_of(from, info, TransferDirection::send, sent_hints_));
    }
    if (fetches(arguments.verb)) {
        Data &to = arguments_.received;
        const bool into_result = arguments.verb == Verb::get_accumulate;
        UCD_TRY(of_argument(into_result ? "result_" : "origin_", check_data(to)));
        UCD_TRY(keep_received_type());
        UCD_TRY(find_hints_of(to, info, TransferDirection::receive, received_hints_));
    }
    if (accumulates(arguments.verb) && sends && bytes_ > 0) UCD_TRY(check_op());
    UCD_TRY(read_window_key(*arguments.key, window_));
    since_ = origin_.rma.engine.events.now();
    note_progress();
    return success;
}

// The origin's data must have as many bytes as the target's, and for accumulates the same element.
Status RmaOperation::check_data(const Data &data) {
    const bool accumulates_it = accumulates(arguments_.verb) && bytes_ > 0;
    uint64_t one = type_->one.bytes, element = type_->element;
    if (data.type != arguments_.target.type && accumulates_it) {
        TypePtr type;
        UCD_TRY(origin_.types.find(data.type, type));
        one = type->one.bytes;
        element = type->element;
    } else if (data.type != arguments_.target.type) {
        uintptr_t size;
        UCD_TRY(ucd_ok(ucd_get_size(data.type, &size)));
        one = size;
    }
    if (accumulates_it && element != type_->element)
        return ucd_ucx::fail(
            UCD_ERR__INVALID_ARG,
            "the types of origin and target are not made of the same predefined type");
    uint64_t bytes;
    UCD_TRY(packed_bytes(data.count, one, bytes));
    return check_bytes(bytes, bytes_);
}

Status RmaOperation::find_hints_of(Data &data, ucd_info_t info, TransferDirection direction,
                                   std::unique_ptr<const BufferHints> &made) {
    return find_hints(data.buf, data.count, data.type, info, direction, origin_.rma.engine.for_host,
                      made, data.hints);
}

Status RmaOperation::check_element() {
    granule_ = type_->element_bytes;
    if (type_->element != 0) return success;
    return ucd_ucx::fail(UCD_ERR__INVALID_ARG, "target_type is not made of one predefined type");
}

Status RmaOperation::check_op() {
    if (type_->takes(arguments_.op)) return success;
    // libucd refuses it also for no data, and names op and type.
    uintptr_t moved;
    return ucd_ok(ucd_unpack(nullptr, 0, nullptr, 0, type_->type.get(), 0, &moved, UCD_INFO__NULL,
                             arguments_.op));
}

Status RmaOperation::hold() {
    if (sent_bytes_ == 0 || arguments_.sent.type == type_->type.get()) return success;
    UCD_TRY(held_type_.keep(arguments_.sent.type));
    arguments_.sent.type = held_type_.get();
    return success;
}

Status RmaOperation::start(EndpointOrder &of, const RmaArguments *given) {
    lane = &of;
    if (is_done_directly()) return success;
    Request request;
    request.verb = arguments_.verb;
    request.op = arguments_.op;
    request.number = number;
    request.displacement = arguments_.displacement;
    request.count = arguments_.target.count;
    origin_.name_window(of, window_, request);
    origin_.name_type(of, *type_, request);
    if (request.form != TypeForm::known) type_index_ = request.type_index;
    const Encoded encoded(request);
    UCD_TRY(send(encoded, arguments_.sent, sent_bytes_, granule_));
    if (given != nullptr && request.form == TypeForm::known && !request.shows_key)
        // performance only: without it, the next operation's arguments are checked, too
        note_for_repetition(*given, encoded, of.repeated(request.verb));
    return success;
}

Status RmaOperation::start(EndpointOrder &of, const RepeatedOperation &before) {
    lane = &of;
    if (is_done_directly()) return success;
    Encoded request = before.request;
    request.set_number(number);
    request.set_displacement(arguments_.displacement);
    return send(request, arguments_.sent, sent_bytes_, granule_);
}

bool RmaOperation::is_done_directly() {
    if (options_.direct == Trust::none || bytes_ == 0) return false;
    const BufferHints *const for_host = &origin_.rma.engine.for_host;
    if (sent_bytes_ > 0 && arguments_.sent.hints != for_host) return false;
    if (fetches(arguments_.verb) && arguments_.received.hints != for_host) return false;
    Status status = success;
    if (!origin_.rma.access.move(arguments_, *type_, window_, &status)) return false;
    status_ = ucx_status_of(status.code());
    ucd_ = status.code();
    state_ = OperationState::over;
    return true;
}

// Sends one message, or a transfer in chunks.
Status RmaOperation::send(const Encoded &message, const Data &data, uint64_t bytes,
                          uint64_t granule) {
    if (bytes == 0 || bytes <= direct_limit(options_, *data.hints))
        return origin_.rma.messages.gather_request(ep(), message, data, bytes, number,
                                                   contiguous_of(data));
    ucd_ucx_request_t sending;
    const TransferTerms terms = {.granule = granule, .owner = this};
    UCD_TRY(origin_.rma.send(ep(), message, data, info_.get(), terms, &sending));
    transfers_ += sending != UCD_UCX_REQUEST__NULL;
    return success;
}

// The address of the data, if it is one segment of host memory and no driver has to be asked; else
// null.
const char *RmaOperation::contiguous_of(const Data &data) const {
    if (data.type != type_->type.get() || data.count != 1 || !type_->one.contiguous ||
        !data.hints->on_host)
        return nullptr;
    // Computed as an integer, because the buffer may lie far from its data.
    return reinterpret_cast<const char *>(reinterpret_cast<uintptr_t>(data.buf) +
                                          static_cast<uintptr_t>(type_->one.low));
}

void RmaOperation::transfer_ended(const ucd_ucx_request &transfer, const Result &result) {
    if (&transfer == receiving_) receiving_ = nullptr;
    transferred(result.status, result.ucd);
}

void RmaOperation::transferred(ucs_status_t status, int ucd) {
    --transfers_;
    note_progress();
    if (status != UCS_OK) return fail(status, ucd);
    conclude();
}

void RmaOperation::type_asked_for() {
    if (state_ != OperationState::waiting) return;
    state_ = OperationState::sending_type;
    note_progress();
    const Data type = {type_->flattened.data(), type_->flattened.size(), UCD_TYPE__BYTE,
                       &origin_.rma.engine.for_host};
    const Status status = without_exceptions([&] {
        return send(Encoded(Preamble{Verb::type, 0, 0, number}), type, type_->flattened.size(), 1);
    });
    if (!status.ok()) fail(ucx_status_of(status.code()), status.code());
}

void RmaOperation::answered(const Answer &answer, Payload &payload) {
    if (state_ == OperationState::answered) return;
    const bool tells_type = type_index_ != Request::no_index && answer.verdict == Verdict::done;
    if (tells_type || answer.handle != 0)
        lane->learn(window_, answer.handle, *type_, tells_type ? type_index_ : Request::no_index);
    const bool expects_data = fetches(arguments_.verb) && answer.verdict == Verdict::done;
    if (state_ == OperationState::failed) return;
    state_ = OperationState::answered;
    // Then the answer is wrong, not the operation.
    if (payload.bytes() != (expects_data ? bytes_ : 0))
        return fail(UCS_ERR_INVALID_PARAM, UCD_SUCCESS);
    verdict_ = answer.verdict;
    if (answer.verdict != Verdict::done) return fail(status_of(answer.verdict), answer.ucd);
    if (!expects_data || bytes_ == 0) return conclude();
    if (payload.is_here()) return receive_here(payload);
    const Status status = without_exceptions([&] {
        return payload.receive(arguments_.received, UCD_OP__REPLACE, info_.get(), {.owner = this},
                               &receiving_);
    });
    if (!status.ok()) return fail(ucx_status_of(status.code()), status.code());
    ++transfers_;
}

void RmaOperation::receive_here(Payload &payload) {
    const Data &to = arguments_.received;
    if (const char *contiguous = contiguous_of(to); contiguous != nullptr) {
        std::memcpy(const_cast<char *>(contiguous), payload.here().data(), payload.bytes());
        return conclude();
    }
    const Status status = without_exceptions([&] {
        if (!to.hints->on_host) payload.keep();
        uintptr_t unpacked;
        return ucd_ok(ucd_iunpack(payload.here().data(), payload.bytes(),
                                  const_cast<void *>(to.buf), to.count, to.type, 0, &unpacked,
                                  to.hints->info.get(), UCD_OP__REPLACE, &moving));
    });
    if (!status.ok()) {
        moving = UCD_REQUEST__NULL;
        return fail(ucx_status_of(status.code()), status.code());
    }
    if (moving == UCD_REQUEST__NULL) return conclude();
    unpacking_ = std::move(payload);
    ++transfers_;
    origin_.rma.engine.await(*this);
}

void RmaOperation::moved(Status status) {
    unpacking_ = Payload();
    transferred(ucx_status_of(status.code()), status.code());
}

void RmaOperation::fail(ucs_status_t status, int ucd) {
    if (status_ == UCS_OK) {
        status_ = status;
        ucd_ = ucd;
    }
    state_ = OperationState::failed;
    if (receiving_ != nullptr) receiving_->cancel();
    conclude();
}

void RmaOperation::check_time() {
    if (transfers_ == 0 && has_timed_out()) fail(UCS_ERR_TIMED_OUT, UCD_SUCCESS);
}

void RmaOperation::conclude() {
    const bool waits = state_ == OperationState::waiting || state_ == OperationState::sending_type;
    if (waits || transfers_ > 0) return;
    origin_.ended(*this, {status_, ucd_, status_ == UCS_OK ? bytes_ : 0, 0});
}

void RmaOperation::explain() const {
    if (verdict_ == Verdict::done) return ucd_ucx_request::explain();
    char range[100] = "";
    ucd_layout_t layout = {};
    layout.struct_size = sizeof layout;
    if (verdict_ == Verdict::out_of_range &&
        ucd_get_layout(arguments_.target.count, type_->type.get(), &layout) == UCD_SUCCESS)
        std::snprintf(range, sizeof range, ": bytes %jd to %jd from target_disp %jd",
                      intmax_t{layout.low}, intmax_t{layout.high},
                      intmax_t{arguments_.displacement});
    (void)ucd_ucx::fail(
        result().ucd, "%s: the target refused: %s%s (%s; window key ...%02x%02x%02x%02x...)",
        function_of(arguments_.verb), text_of(verdict_), range, ucs_status_string(result().status),
        window_[0], window_[1], window_[2], window_[3]);
}

} // namespace ucd_ucx::rma
