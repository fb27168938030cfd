#include "rma.h"

#include "pipeline.h"

#include <utility>

using namespace ucd_ucx;
using namespace ucd_ucx::rma;

ucd_ucx_rma::ucd_ucx_rma(uint64_t types_limit)
    : origin(*this, types_limit), target(*this, types_limit) {}

Status ucd_ucx_rma::open(ucp_worker_h worker, const ucd_ucx_rma_params_t &params, ucd_info_t info) {
    ucd_ucx_pipeline_params_t p = {};
    p.struct_size = sizeof p;
    p.am_id = params.am_id;
    p.allocate = params.allocate;
    p.release = params.release;
    p.memory_arg = params.memory_arg;
    if (const int rc = ucd_ucx_pipeline_create(worker, &p, info, &pipeline); rc != UCD_SUCCESS)
        return Status(rc);
    lock.be_needed(pipeline->lock.is_needed());
    return Status(ucd_ucx_am_set_handler(pipeline, on_message, this));
}

Status ucd_ucx_rma::close() {
    {
        const std::lock_guard held(lock);
        if (!origin.is_idle())
            return fail(UCD_ERR__INVALID_ARG, "*rma has an operation that is not complete");
        if (target.has_windows()) return fail(UCD_ERR__INVALID_ARG, "*rma has a window");
    }
    return Status(ucd_ucx_pipeline_destroy(&pipeline));
}

Status ucd_ucx_rma::send(ucp_ep_h ep, std::string_view header, const Data &data,
                         const ucd_ucx_param_t *param, uint64_t granule,
                         ucd_ucx_request_t *request) {
    return send_active(*pipeline, ep, 0, header, data, param, granule, request);
}

void ucd_ucx_rma::drop(ucd_ucx_data_t data) {
    (void)ucd_ucx_am_drop(pipeline, data); // fails for NULL only
}

void ucd_ucx_rma::on_message(void *argument, unsigned, const void *header, size_t header_length,
                             ucd_ucx_data_t data, uint64_t bytes, ucp_ep_h reply_ep) {
    auto *self = static_cast<ucd_ucx_rma *>(argument);
    const Delivery delivery = {
        {static_cast<const char *>(header), header_length}, data, bytes, reply_ep};
    const std::lock_guard held(self->lock);
    self->handle_losses();
    self->take(delivery);
}

void ucd_ucx_rma::take(const Delivery &delivery) {
    Preamble preamble;
    const Reading reading = decode(delivery.message, preamble);
    // Nobody to answer, or nothing to name in an answer.
    if (reading == Reading::too_short || delivery.ep == nullptr) return drop(delivery.data);
    if (reading == Reading::good && is_request(preamble.verb)) return target.take_request(delivery);
    if (reading == Reading::good && preamble.verb == Verb::type)
        return target.take_type(preamble.number, delivery);
    if (reading == Reading::good && preamble.verb == Verb::answer)
        return origin.take_answer(answer_of(preamble), delivery);
    drop(delivery.data);
    if (reading == Reading::good && preamble.verb == Verb::need_type)
        return origin.take_question(preamble.number);
    if (reading == Reading::other_version && is_request(preamble.verb))
        target.answer(delivery.ep, {Verdict::not_supported, UCD_SUCCESS, preamble.number});
}

Status ucd_ucx_rma::lose(ucp_ep_h ep, ucs_status_t status) {
    {
        const std::lock_guard held(losses_lock_);
        losses_.push_back({ep, status, ++clock_});
    }
    return Status(ucd_ucx_lose_endpoint(pipeline, ep, status));
}

void ucd_ucx_rma::handle_losses() {
    if (losses_handled_ == clock_) return;
    std::vector<Loss> losses;
    {
        const std::lock_guard held(losses_lock_);
        losses.swap(losses_);
        losses_handled_ = clock_;
    }
    for (const Loss &l : losses) {
        origin.lose(l.ep, l.status, l.before);
        target.lose(l.ep, l.before);
    }
}

unsigned ucd_ucx_rma::progress() {
    unsigned moved = ucd_ucx_progress(pipeline);
    Queue<ucd_ucx_request> finished;
    {
        const std::lock_guard held(lock);
        handle_losses();
        moved += target.progress();
        finished = std::move(finished_);
    }
    moved += !finished.empty();
    while (!finished.empty()) finished.pop().call_back_and_let_go();
    return moved;
}
