#include "rma/rma_task.h"

#include "pipeline/pipeline.h"
#include "rma/rma.h"

namespace ucd_ucx::rma {

Task::Task(Target &target, ucd_ucx_window &window, const Request &request, WindowHandle handle,
           const ContentId &type_id, Delivery &&delivery)
    : target_(target), window_(window), request_(request), handle_(handle), type_id_(type_id),
      payload_(std::move(delivery.payload)), ep_(delivery.ep), since_(delivery.since),
      charged_(payload_.is_here() ? payload_.bytes() : 0) {
    request_.type = {};
    payload_.keep();
}

Answer Task::result(Verdict verdict, int ucd) const {
    return {verdict, static_cast<uint8_t>(ucd), request_.number, handle_};
}

void Task::begin(TypePtr type) {
    if (ep_ == nullptr) return target_.end(*this);
    type_ = std::move(type);
    Target::Checked checked;
    Verdict verdict = Verdict::no_memory; // unless there is enough to find out
    (void)without_exceptions([&] {
        verdict = target_.check(request_, window_, *type_, ep_, payload_.bytes(), checked);
        return success;
    });
    if (verdict != Verdict::done) return refuse(verdict);
    bytes_ = checked.bytes;
    granule_ = checked.element_bytes;
    if (accumulates(request_.verb)) {
        if (!window_.enqueue(*this)) refuse(Verdict::no_memory);
        return;
    }
    at_work_ = true;
    if (request_.verb == Verb::put) return receive();
    send_data(
        {window_.at(request_.displacement), request_.count, type_->type.get(), &window_.to_read},
        window_.eager, window_.info.get());
}

void Task::receive_type(Delivery delivery) {
    if (delivery.payload.is_here()) return learn(delivery.payload.here());
    flattened_bytes_ = delivery.payload.bytes();
    if (!charge(flattened_bytes_)) return refuse(Verdict::no_memory);
    flattened_.reset(static_cast<char *>(std::malloc(flattened_bytes_)));
    if (flattened_ == nullptr) return refuse(Verdict::no_memory);
    const ucd_ucx_param_t p = {sizeof p, UCD_INFO__NULL, on_type, this};
    ucd_ucx_request_t request;
    const Data to = {flattened_.get(), flattened_bytes_, UCD_TYPE__BYTE,
                     &target_.rma.pipeline->for_host};
    const Status status = without_exceptions(
        [&] { return delivery.payload.receive(to, UCD_OP__REPLACE, p, &request); });
    if (!status.ok()) return refuse(verdict_of(status.code()));
    at_work_ = true;
}

void Task::on_type(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *argument) {
    auto *task = static_cast<Task *>(argument);
    const std::lock_guard held(task->target_.rma.lock);
    task->target_.rma.try_to_handle_endpoint_failures();
    ucd_ucx_request_free(request);
    task->at_work_ = false;
    if (result->status != UCS_OK) return task->refuse(Verdict::failed, result->ucd);
    const Memory flattened = std::move(task->flattened_);
    task->learn({flattened.get(), task->flattened_bytes_});
}

void Task::learn(std::string_view flattened) {
    if (content_id(flattened.data(), flattened.size()) != type_id_) return refuse(Verdict::invalid);
    TypePtr type;
    const Status status = without_exceptions([&] { return target_.types.learn(flattened, type); });
    if (!status.ok()) return refuse(verdict_of(status.code()));
    begin(std::move(type));
}

void Task::take_turn() {
    at_work_ = true;
    if (fetches(request_.verb)) return fetch();
    receive();
}

// Whether the call has started something that progress has to poll.
bool Task::await_device(int rc) {
    if (rc != UCD_SUCCESS) moving = UCD_REQUEST__NULL;
    if (moving == UCD_REQUEST__NULL) return false;
    target_.rma.await(*this);
    return true;
}

bool Task::charge(uint64_t bytes) {
    bool charged = false;
    (void)without_exceptions([&] {
        charged = target_.charge_task(ep_, bytes);
        return success;
    });
    if (charged) charged_ += bytes;
    return charged;
}

void Task::fetch() {
    if (!charge(bytes_)) return refuse(Verdict::no_memory);
    // At least one byte, so that null means that there is none.
    old_.reset(static_cast<char *>(std::malloc(bytes_ + 1)));
    if (old_ == nullptr) return refuse(Verdict::no_memory);
    uintptr_t packed;
    const int rc =
        ucd_ipack(window_.at(request_.displacement), request_.count, type_->type.get(), 0,
                  old_.get(), bytes_, &packed, window_.fetch_info.get(), UCD_OP__REPLACE, &moving);
    if (await_device(rc)) return;
    fetched(Status(rc));
}

void Task::moved(ucd_ucx_pipeline &, Status status) {
    if (!unpacking_) return fetched(status);
    received({ucx_status_of(status.code()), status.code(), bytes_, 0});
}

void Task::fetched(Status status) {
    if (!status.ok()) return refuse(verdict_of(status.code()), status.code());
    if (request_.op != UCD_UCX_OP__NO_OP) return receive();
    received({UCS_OK, UCD_SUCCESS, bytes_, 0});
}

void Task::receive() {
    const Data to = {window_.at(request_.displacement), request_.count, type_->type.get(),
                     &window_.to_write};
    if (payload_.is_here()) {
        unpacking_ = true;
        uintptr_t unpacked;
        const int rc = ucd_iunpack(payload_.here().data(), payload_.bytes(),
                                   const_cast<void *>(to.buf), to.count, to.type, 0, &unpacked,
                                   to.hints->info.get(), request_.op, &moving);
        if (await_device(rc)) return;
        return received({ucx_status_of(rc), rc, bytes_, 0});
    }
    const ucd_ucx_param_t p = {sizeof p, window_.info.get(), on_received, this};
    ucd_ucx_request_t request;
    const Status status =
        without_exceptions([&] { return payload_.receive(to, request_.op, p, &request); });
    if (!status.ok()) refuse(verdict_of(status.code()), status.code());
}

void Task::on_received(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *argument) {
    auto *task = static_cast<Task *>(argument);
    const std::lock_guard held(task->target_.rma.lock);
    task->target_.rma.try_to_handle_endpoint_failures();
    ucd_ucx_request_free(request);
    task->received(*result);
}

void Task::received(const ucd_ucx_result_t &result_of_move) {
    if (result_of_move.status != UCS_OK) {
        const Verdict verdict = verdict_of(result_of_move.ucd);
        return refuse(verdict == Verdict::done ? Verdict::failed : verdict, result_of_move.ucd);
    }
    payload_ = Payload();
    if (fetches(request_.verb)) {
        window_.leave(*this);
        const ucd_ucx_pipeline &pipeline = *target_.rma.pipeline;
        return send_data({old_.get(), bytes_, UCD_TYPE__BYTE, &pipeline.for_host},
                         direct_limit(pipeline.options, pipeline.for_host), UCD_INFO__NULL);
    }
    target_.answer(ep_, result(Verdict::done));
    target_.end(*this);
}

void Task::send_data(const Data &data, uint64_t eager, ucd_info_t info) {
    if (ep_ == nullptr) return target_.end(*this);
    const ucd_ucx_param_t p = {sizeof p, info, on_answered, this};
    bool waits = false;
    const Status status = without_exceptions([&] {
        return target_.answer(ep_, result(Verdict::done), data, bytes_, eager, granule_, p, &waits);
    });
    if (!status.ok()) return refuse(verdict_of(status.code()), status.code());
    if (!waits) target_.end(*this);
}

// How it ended the origin sees as well as this side does.
void Task::on_answered(ucd_ucx_request_t, const ucd_ucx_result_t *, void *argument) {
    auto *task = static_cast<Task *>(argument);
    const std::lock_guard held(task->target_.rma.lock);
    task->target_.end(*task);
}

void Task::refuse(Verdict verdict, int ucd) {
    target_.answer(ep_, result(verdict, ucd));
    target_.end(*this);
}

void Task::on_endpoint_failed() {
    ep_ = nullptr;
    if (!at_work_) target_.end(*this);
}

} // namespace ucd_ucx::rma
