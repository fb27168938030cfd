#include "rma_task.h"

#include "pipeline.h"
#include "rma.h"

namespace ucd_ucx::rma {

Task::Task(Target &target, ucd_ucx_window &window, const Request &request, const Delivery &delivery,
           uint64_t since)
    : target_(target), window_(window), request_(request), data_(delivery.data), ep_(delivery.ep),
      since_(since) {
    if (!request.type_is_here) std::memcpy(type_name_.data(), request.type.data(), sizeof(Name));
    request_.type = {};
}

Task::~Task() {
    if (data_ != nullptr) target_.rma.drop(data_);
}

void Task::begin(TypePtr type) {
    type_ = std::move(type);
    const Verdict verdict = check(granule_);
    if (verdict != Verdict::done) return refuse(verdict);
    if (accumulates(request_.verb)) return window_.enqueue(*this);
    at_work_ = true;
    if (request_.verb == Verb::put) return receive();
    send_data(
        {window_.at(request_.displacement), request_.count, type_->type.get(), &window_.to_read},
        window_.info.get());
}

// All of it before anything is moved.
Verdict Task::check(uint64_t &element_bytes) const {
    ucd_layout_t layout = {};
    layout.struct_size = sizeof layout;
    const int rc = ucd_get_layout(request_.count, type_->type.get(), &layout);
    if (rc == UCD_ERR__OVERFLOW) return Verdict::out_of_range;
    if (rc != UCD_SUCCESS) return verdict_of(rc);
    if (layout.bytes != request_.bytes) return Verdict::invalid;
    if (layout.bytes == 0) return Verdict::done;
    if (!window_.has(request_.displacement, layout.low, layout.high)) return Verdict::out_of_range;
    // More bytes than places: some overlap.
    const bool writes = request_.verb != Verb::get;
    if (writes && layout.bytes > static_cast<uint64_t>(layout.high - layout.low))
        return Verdict::invalid;
    if (!accumulates(request_.verb)) return Verdict::done;
    uint64_t element;
    const Status status = element_signature(layout.element, element);
    if (!status.ok()) return verdict_of(status.code());
    if (element == 0 || element != request_.element) return Verdict::invalid;
    uintptr_t bytes;
    const int sized = ucd_get_size(layout.element, &bytes);
    element_bytes = bytes;
    return verdict_of(sized);
}

void Task::receive_type(const Delivery &delivery) {
    flattened_bytes_ = delivery.bytes;
    flattened_.reset(static_cast<char *>(std::malloc(flattened_bytes_)));
    if (flattened_ == nullptr) {
        target_.rma.drop(delivery.data);
        return refuse(Verdict::no_memory);
    }
    const ucd_ucx_param_t p = {sizeof p, UCD_INFO__NULL, on_type, this};
    ucd_ucx_request_t request;
    const Status status = receive_active(
        *target_.rma.pipeline, delivery.data,
        {flattened_.get(), flattened_bytes_, UCD_TYPE__BYTE, &target_.rma.pipeline->for_host},
        UCD_OP__REPLACE, &p, &request);
    if (!status.ok()) {
        target_.rma.drop(delivery.data);
        return refuse(verdict_of(status.code()));
    }
    at_work_ = true;
}

void Task::on_type(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *argument) {
    auto *task = static_cast<Task *>(argument);
    const std::lock_guard held(task->target_.rma.lock);
    task->target_.rma.handle_losses();
    ucd_ucx_request_free(request);
    task->at_work_ = false;
    if (result->status != UCS_OK) return task->refuse(Verdict::failed, result->ucd);
    const std::string_view flattened(task->flattened_.get(), task->flattened_bytes_);
    if (name_of(flattened.data(), flattened.size()) != task->type_name_)
        return task->refuse(Verdict::invalid);
    TypePtr type;
    const Status status = task->target_.types.learn(flattened, type);
    if (!status.ok()) return task->refuse(verdict_of(status.code()));
    task->flattened_.reset();
    task->begin(std::move(type));
}

void Task::take_turn() {
    at_work_ = true;
    if (fetches(request_.verb)) return fetch();
    receive();
}

void Task::fetch() {
    // At least one byte, so that null means that there is none.
    old_.reset(static_cast<char *>(std::malloc(request_.bytes + 1)));
    if (old_ == nullptr) return refuse(Verdict::no_memory);
    uintptr_t packed;
    const int rc = ucd_ipack(window_.at(request_.displacement), request_.count, type_->type.get(),
                             0, old_.get(), request_.bytes, &packed, window_.fetch_info.get(),
                             UCD_OP__REPLACE, &fetching_);
    if (rc != UCD_SUCCESS) {
        fetching_ = UCD_REQUEST__NULL;
        return refuse(verdict_of(rc), rc);
    }
    if (fetching_ == UCD_REQUEST__NULL) fetched(success);
}

bool Task::poll() {
    int done = 0;
    const Status status = ucd_ok(ucd_test(&fetching_, &done));
    if (done != 0) fetched(status);
    return done != 0;
}

void Task::fetched(Status status) {
    if (!status.ok()) return refuse(verdict_of(status.code()), status.code());
    if (request_.op != UCD_UCX_OP__NO_OP) return receive();
    received({UCS_OK, UCD_SUCCESS, request_.bytes, 0});
}

void Task::receive() {
    const Data to = {window_.at(request_.displacement), request_.count, type_->type.get(),
                     &window_.to_write};
    bool done;
    if (const Status status = receive_at_once(*target_.rma.pipeline, data_, to, request_.op, done);
        done) {
        data_ = nullptr;
        return received({ucx_status_of(status.code()), status.code(), request_.bytes, 0});
    }
    const ucd_ucx_param_t p = {sizeof p, window_.info.get(), on_received, this};
    ucd_ucx_request_t request;
    const Status status =
        receive_active(*target_.rma.pipeline, data_, to, request_.op, &p, &request);
    if (!status.ok()) return refuse(verdict_of(status.code()), status.code());
    data_ = nullptr;
}

void Task::on_received(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *argument) {
    auto *task = static_cast<Task *>(argument);
    const std::lock_guard held(task->target_.rma.lock);
    task->target_.rma.handle_losses();
    ucd_ucx_request_free(request);
    task->received(*result);
}

void Task::received(const ucd_ucx_result_t &result) {
    if (result.status != UCS_OK) {
        const Verdict verdict = verdict_of(result.ucd);
        return refuse(verdict == Verdict::done ? Verdict::failed : verdict, result.ucd);
    }
    if (fetches(request_.verb)) {
        window_.leave(*this);
        return send_data(
            {old_.get(), request_.bytes, UCD_TYPE__BYTE, &target_.rma.pipeline->for_host},
            UCD_INFO__NULL);
    }
    target_.answer(ep_, {Verdict::done, UCD_SUCCESS, request_.number});
    target_.end(*this);
}

void Task::send_data(const Data &data, ucd_info_t info) {
    if (ep_ == nullptr) return target_.end(*this);
    const ucd_ucx_param_t p = {sizeof p, info, on_answered, this};
    ucd_ucx_request_t request;
    const Status status =
        target_.rma.send(ep_, encode(Answer{Verdict::done, UCD_SUCCESS, request_.number}), data, &p,
                         granule_, &request);
    if (!status.ok()) return refuse(verdict_of(status.code()), status.code());
    if (request == UCD_UCX_REQUEST__NULL) return target_.end(*this);
    ucd_ucx_request_free(request);
}

// How it ended the origin sees as well as this side does.
void Task::on_answered(ucd_ucx_request_t, const ucd_ucx_result_t *, void *argument) {
    auto *task = static_cast<Task *>(argument);
    const std::lock_guard held(task->target_.rma.lock);
    task->target_.end(*task);
}

void Task::refuse(Verdict verdict, int ucd) {
    target_.answer(ep_, {verdict, ucd, request_.number});
    target_.end(*this);
}

void Task::lose() {
    ep_ = nullptr;
    if (!at_work_) target_.end(*this);
}

} // namespace ucd_ucx::rma
