#include "rma_operation.h"

#include "pipeline.h"
#include "rma.h"

#include <algorithm>

namespace ucd_ucx::rma {
namespace {

Status measure(const Data &data, ucd_layout_t &layout) {
    layout.struct_size = sizeof layout;
    return ucd_ok(ucd_get_layout(data.count, data.type, &layout));
}

// All that a transfer may ask for later, but for hints.
Status copy_keys(ucd_info_t from, OwnedInfo &to) {
    if (from == UCD_INFO__NULL) return success;
    for (const char *key : transfer_keys) UCD_UCX_TRY(to.copy(from, key));
    return success;
}

// The one element of both, which takes the op.
Status check_elements(const ucd_layout_t &here, const ucd_layout_t &there, ucd_op_t op,
                      uint64_t &signature) {
    signature = 0;
    if (there.bytes == 0) return success;
    UCD_UCX_TRY(element_signature(there.element, signature));
    if (signature == 0)
        return fail(UCD_ERR__INVALID_ARG, "target_type is not made of one predefined type");
    uint64_t ours;
    UCD_UCX_TRY(element_signature(here.element, ours));
    if (ours != signature)
        return fail(UCD_ERR__INVALID_ARG,
                    "the types of origin and target are not made of the same predefined type");
    if (op == UCD_UCX_OP__NO_OP) return success;
    int takes = 0;
    UCD_UCX_TRY(ucd_ok(ucd_op_is_supported(op, there.element, "seq", &takes)));
    if (takes) return success;
    return fail(UCD_ERR__NOT_SUPPORTED, "op is %d, which target_type does not take", op);
}

Status check_bytes(const ucd_layout_t &here, const ucd_layout_t &there) {
    if (here.bytes == there.bytes) return success;
    return fail(UCD_ERR__INVALID_ARG, "there are %ju bytes at the origin, and %ju at the target",
                static_cast<uintmax_t>(here.bytes), static_cast<uintmax_t>(there.bytes));
}

} // namespace

Status Flush::set(const TransferOptions &options, const ucd_ucx_param_t *param) {
    ucd_info_t info;
    return ucd_ucx_request::set(options, param, info);
}

bool Flush::one_ended(const ucd_ucx_result_t &result) {
    if (status_ == UCS_OK) {
        status_ = result.status;
        ucd_ = result.ucd;
    }
    if (--remaining_ > 0) return false;
    complete({status_, ucd_, 0, 0});
    return true;
}

Status Operation::set(const Arguments &arguments) {
    arguments_ = arguments;
    ucd_info_t info;
    UCD_UCX_TRY(ucd_ucx_request::set(origin_.rma.pipeline->options, arguments.param, info));
    UCD_UCX_TRY(copy_keys(info, info_));
    request_.verb = arguments.verb;
    request_.op = arguments.op;
    const bool sends = arguments.verb != Verb::get && arguments.op != UCD_UCX_OP__NO_OP;
    const Hints &for_host = origin_.rma.pipeline->for_host;
    ucd_layout_t there, sent, received;
    UCD_UCX_TRY(measure(arguments.target, there));
    if (sends) {
        UCD_UCX_TRY(measure(arguments.sent, sent));
        UCD_UCX_TRY(check_bytes(sent, there));
        Data &data = arguments_.sent;
        UCD_UCX_TRY(find_hints(data.buf, data.count, data.type, info, Direction::send, for_host,
                               sent_hints_, data.hints));
    } else {
        arguments_.sent = {.hints = &for_host};
    }
    if (fetches(arguments.verb)) {
        UCD_UCX_TRY(measure(arguments.received, received));
        UCD_UCX_TRY(check_bytes(received, there));
        UCD_UCX_TRY(received_type_.keep(arguments.received.type));
        Data &data = arguments_.received;
        data.type = received_type_.get();
        UCD_UCX_TRY(find_hints(data.buf, data.count, data.type, info, Direction::receive, for_host,
                               received_hints_, data.hints));
    }
    if (accumulates(arguments.verb)) {
        if (fetches(arguments.verb))
            UCD_UCX_TRY(check_elements(received, there, UCD_UCX_OP__NO_OP, request_.element));
        if (sends) UCD_UCX_TRY(check_elements(sent, there, arguments.op, request_.element));
        if (there.bytes > 0) {
            uintptr_t bytes;
            UCD_UCX_TRY(ucd_ok(ucd_get_size(there.element, &bytes)));
            granule_ = bytes;
        }
    }
    UCD_UCX_TRY(read_window_key(*arguments.key, request_.window));
    request_.displacement = arguments.displacement;
    request_.count = arguments.target.count;
    request_.bytes = there.bytes;
    UCD_UCX_TRY(origin_.types.find(arguments.target.type, type_));
    request_.number = origin_.new_number();
    since_ = origin_.rma.now();
    return success;
}

Status Operation::hold() {
    UCD_UCX_TRY(held_type_.keep(arguments_.sent.type));
    arguments_.sent.type = held_type_.get();
    return success;
}

ucd_ucx_param_t Operation::param(ucd_ucx_callback_t callback) {
    return {sizeof(ucd_ucx_param_t), info_.get(), callback, this};
}

Status Operation::start() {
    const std::size_t room = origin_.rma.pipeline->most_user_header - Request::bytes_before_type;
    request_.type_is_here =
        type_->flattened.size() <= room && !origin_.expect_known(ep(), type_->name);
    request_.type = request_.type_is_here
                        ? std::string_view(type_->flattened)
                        : std::string_view(reinterpret_cast<const char *>(type_->name.data()),
                                           type_->name.size());
    const ucd_ucx_param_t p = param(on_sent);
    ucd_ucx_request_t sending;
    UCD_UCX_TRY(origin_.rma.send(ep(), encode(request_), arguments_.sent, &p, granule_, &sending));
    transfers_ += sending != UCD_UCX_REQUEST__NULL;
    ucd_ucx_request_free(sending);
    return success;
}

void Operation::on_sent(ucd_ucx_request_t, const ucd_ucx_result_t *result, void *argument) {
    auto *operation = static_cast<Operation *>(argument);
    const std::lock_guard held(operation->origin_.rma.lock);
    operation->origin_.rma.handle_losses(); // what waits for this must not be sent there
    operation->transferred(*result);
}

void Operation::on_received(ucd_ucx_request_t request, const ucd_ucx_result_t *result,
                            void *argument) {
    auto *operation = static_cast<Operation *>(argument);
    const std::lock_guard held(operation->origin_.rma.lock);
    operation->receiving_ = UCD_UCX_REQUEST__NULL;
    ucd_ucx_request_free(request);
    operation->origin_.rma.handle_losses();
    operation->transferred(*result);
}

void Operation::transferred(const ucd_ucx_result_t &result) {
    --transfers_;
    if (result.status != UCS_OK) return fail(result.status, result.ucd);
    conclude();
}

void Operation::type_asked_for() {
    if (answered_ || type_sent_ || status_ != UCS_OK) return;
    type_sent_ = true;
    const ucd_ucx_param_t p = param(on_sent);
    ucd_ucx_request_t sending;
    const Status status = origin_.rma.send(ep(), encode(Preamble{Verb::type, 0, 0, number()}),
                                           {type_->flattened.data(), type_->flattened.size(),
                                            UCD_TYPE__BYTE, &origin_.rma.pipeline->for_host},
                                           &p, 1, &sending);
    if (!status.ok()) return fail(ucx_status_of(status.code()), status.code());
    transfers_ += sending != UCD_UCX_REQUEST__NULL;
    ucd_ucx_request_free(sending);
}

void Operation::answered(const Answer &answer, const Delivery &delivery) {
    const bool expects_data = fetches(arguments_.verb) && answer.verdict == Verdict::done;
    const bool fits = delivery.bytes == (expects_data ? request_.bytes : 0);
    if (answered_ || status_ != UCS_OK || !expects_data || !fits) {
        origin_.rma.drop(delivery.data);
        if (answered_) return;
        answered_ = true;
        if (!fits) return fail(UCS_ERR_INVALID_PARAM, UCD_SUCCESS);
        if (answer.verdict != Verdict::done) return fail(status_of(answer.verdict), answer.ucd);
        return conclude();
    }
    answered_ = true;
    bool done;
    if (const Status status = receive_at_once(*origin_.rma.pipeline, delivery.data,
                                              arguments_.received, UCD_OP__REPLACE, done);
        done)
        return status.ok() ? conclude() : fail(ucx_status_of(status.code()), status.code());
    const ucd_ucx_param_t p = param(on_received);
    const Status status = receive_active(*origin_.rma.pipeline, delivery.data, arguments_.received,
                                         UCD_OP__REPLACE, &p, &receiving_);
    if (!status.ok()) {
        origin_.rma.drop(delivery.data);
        return fail(ucx_status_of(status.code()), status.code());
    }
    ++transfers_;
}

void Operation::fail(ucs_status_t status, int ucd) {
    if (status_ == UCS_OK) {
        status_ = status;
        ucd_ = ucd;
    }
    if (receiving_ != UCD_UCX_REQUEST__NULL)
        (void)ucd_ucx_cancel(origin_.rma.pipeline, receiving_); // fails for NULL only
    conclude();
}

void Operation::conclude() {
    if (transfers_ > 0 || (!answered_ && status_ == UCS_OK)) return;
    origin_.ended(*this, {status_, ucd_, status_ == UCS_OK ? request_.bytes : 0, 0});
}

} // namespace ucd_ucx::rma
