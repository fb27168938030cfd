#include "rma/rma_operation.h"

#include "rma/one_sided.h"

#include <cstdio>
#include <cstring>

namespace ucd_ucx::rma {

Status RmaOperation::set(const RmaArguments &given) {
    const WorkerEngine &engine = origin_.rma.engine;
    ucd_info_t info;
    UCD_TRY(ucd_ucx_request::set(engine.options, given.param, info));
    const Status found = origin_.find_type(given.target.type, arguments.type);
    if (!found.ok()) return of_argument("target_", found);
    UCD_TRY(arguments.check(given, info, origin_.types, engine.for_host));
    note_progress();
    return success;
}

Status RmaOperation::start() {
    Request request;
    request.verb = arguments.verb;
    request.op = arguments.op;
    request.number = number;
    request.displacement = arguments.displacement;
    request.count = arguments.count;
    lane.name_window(arguments.window, request);
    introduced_ = lane.name_type(*arguments.type, origin_.rma.transfers.max_user_header(), request);
    return send(Encoded(request), arguments.sent, arguments.sent_bytes(),
                arguments.sends ? arguments.contiguous(arguments.sent) : nullptr);
}

// Sends one message, or a transfer in chunks. `contiguous`: as in ShortContent.
Status RmaOperation::send(const Encoded &message, const Data &data, uint64_t bytes,
                          const char *contiguous) {
    if (bytes == 0 || bytes <= direct_limit(options_, *data.hints))
        return origin_.rma.messages.send_request(lane.ep, {message, data, bytes, contiguous});
    ucd_ucx_request_t sending;
    const TransferTerms terms = {.granule = arguments.granule(), .owner = this};
    UCD_TRY(origin_.rma.send(lane.ep, message, data, arguments.info.get(), terms, &sending));
    transfers_ += sending != UCD_UCX_REQUEST__NULL;
    return success;
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
    const std::string &flattened = arguments.type->flattened;
    const Data type = {flattened.data(), flattened.size(), UCD_TYPE__BYTE,
                       &origin_.rma.engine.for_host};
    const Status status = without_exceptions([&] {
        return send(Encoded(Preamble{Verb::type, 0, 0, number}), type, flattened.size(),
                    flattened.data());
    });
    if (!status.ok()) fail(ucx_status_of(status.code()), status.code());
}

void RmaOperation::answered(Delivery &delivery) {
    Answer answer;
    const Verdict readable = delivery.read(answer);
    if (readable != Verdict::done)
        return fail(meaning_of(readable).status,
                    readable == Verdict::no_memory ? UCD_ERR__OUT_OF_MEM : UCD_SUCCESS);
    Payload &payload = delivery.payload;
    if (std::exchange(state_, OperationState::over) == OperationState::over) return;
    lane.learn(arguments.window, answer.handle);
    if (introduced_ != nullptr && answer.verdict == Verdict::done) introduced_->confirmed = true;
    const bool expects_data = fetches(arguments.verb) && answer.verdict == Verdict::done;
    // Then the answer is wrong, not the operation.
    if (payload.bytes() != (expects_data ? arguments.bytes : 0))
        return fail(UCS_ERR_INVALID_PARAM, UCD_SUCCESS);
    verdict_ = answer.verdict;
    if (answer.verdict != Verdict::done) return fail(meaning_of(answer.verdict).status, answer.ucd);
    if (!expects_data || arguments.bytes == 0) return conclude();
    if (payload.is_here()) return receive_here(payload);
    const Status status = without_exceptions([&] {
        return payload.receive(origin_.rma.transfers, arguments.received, UCD_OP__REPLACE,
                               arguments.info.get(), {.owner = this}, &receiving_);
    });
    if (!status.ok()) return fail(ucx_status_of(status.code()), status.code());
    ++transfers_;
}

void RmaOperation::receive_here(Payload &payload) {
    const Data &to = arguments.received;
    if (char *contiguous = arguments.contiguous(arguments.received); contiguous != nullptr) {
        std::memcpy(contiguous, payload.here().data(), payload.bytes());
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
    state_ = OperationState::over;
    if (receiving_ != nullptr) receiving_->cancel();
    conclude();
}

void RmaOperation::check_time() {
    if (transfers_ == 0 && has_timed_out()) fail(UCS_ERR_TIMED_OUT, UCD_SUCCESS);
}

void RmaOperation::conclude() {
    if (state_ != OperationState::over || transfers_ > 0) return;
    origin_.ended(*this, {status_, ucd_, status_ == UCS_OK ? arguments.bytes : 0, 0});
}

void RmaOperation::explain() const {
    if (verdict_ == Verdict::done) return ucd_ucx_request::explain();
    char range[100] = "";
    ucd_layout_t layout;
    if (verdict_ == Verdict::out_of_range &&
        layout_of(arguments.count, arguments.type->type.get(), layout).ok())
        std::snprintf(range, sizeof range, ": bytes %jd to %jd from target_disp %jd",
                      intmax_t{layout.low}, intmax_t{layout.high},
                      intmax_t{arguments.displacement});
    const ContentId &w = arguments.window;
    (void)ucd_ucx::fail(result().ucd,
                        "%s: the target refused: %s%s (%s; window key ...%02x%02x%02x%02x...)",
                        name_of(arguments.verb), meaning_of(verdict_).text, range,
                        ucs_status_string(result().status), w[0], w[1], w[2], w[3]);
}

} // namespace ucd_ucx::rma
