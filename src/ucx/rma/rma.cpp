#include "rma/rma.h"

#include "pipeline/pipeline.h"

#include <utility>

using namespace ucd_ucx;
using namespace ucd_ucx::rma;

namespace {

class Handling {
public:
    explicit Handling(bool &flag) : flag_(flag) { flag_ = true; }
    ~Handling() { flag_ = false; }
    Handling(const Handling &) = delete;
    Handling &operator=(const Handling &) = delete;

private:
    bool &flag_;
};

} // namespace

ucd_ucx_rma::ucd_ucx_rma(const Ledger::Limits &budgets, uint64_t peer_operations)
    : ledger(std::make_shared<Ledger>(budgets)), origin(*this, budgets.remembered),
      target(*this, peer_operations) {}

ucd_ucx_rma::~ucd_ucx_rma() {
    // No send operation is left, so all events are messages.
    events.drop_all([](Event &event) { delete static_cast<DirectMessage *>(&event); });
}

Status ucd_ucx_rma::open(ucp_worker_h worker, const ucd_ucx_rma_params_t &params, ucd_info_t info) {
    ucd_ucx_pipeline_params_t p = {};
    p.struct_size = sizeof p;
    p.am_id = params.am_id;
    p.allocate = params.allocate;
    p.release = params.release;
    p.memory_arg = params.memory_arg;
    p.unresponsive = params.unresponsive;
    p.unresponsive_arg = params.unresponsive_arg;
    direct.open(worker, params.am_id);
    UCD_UCX_TRY(create_pipeline(worker, p, info, ledger, &direct, &pipeline));
    for (WorkerLock *l : {&lock, &events.lock}) l->be_needed(pipeline->lock.is_needed());
    return Status(ucd_ucx_am_set_handler(pipeline, on_message, this));
}

Status ucd_ucx_rma::close() {
    {
        const std::lock_guard held(lock);
        if (!origin.is_idle())
            return fail(UCD_ERR__INVALID_ARG, "*rma has an operation that is not complete");
        if (target.has_windows()) return fail(UCD_ERR__INVALID_ARG, "*rma has a window");
        if (direct.unsent() > 0)
            return fail(UCD_ERR__INVALID_ARG, "*rma has an answer that is not sent yet");
    }
    return Status(ucd_ucx_pipeline_destroy(&pipeline));
}

Status ucd_ucx_rma::send(ucp_ep_h ep, const std::string &header, const Data &data,
                         const ucd_ucx_param_t *param, const TransferTerms &terms,
                         ucd_ucx_request_t *request) {
    return send_active(*pipeline, ep, 0, header, data, param, terms, request);
}

void ucd_ucx_rma::report_unresponsive(ucp_ep_h ep) {
    const std::lock_guard held(pipeline->lock);
    pipeline->report_unresponsive(ep);
}

void ucd_ucx_rma::on_message(void *argument, unsigned, const void *header, size_t header_length,
                             ucd_ucx_data_t data, uint64_t bytes, ucp_ep_h reply_ep) {
    auto *self = static_cast<ucd_ucx_rma *>(argument);
    const std::lock_guard held(self->lock);
    self->try_to_handle_endpoint_failures();
    Delivery delivery = {{static_cast<const char *>(header), header_length},
                         reply_ep,
                         self->events.now(),
                         Payload(self->pipeline, data, bytes)};
    if (reply_ep == nullptr) return; // no answer is possible
    // Whatever happens here, the pipeline must continue with the next message.
    (void)without_exceptions([&] {
        self->take(delivery, nullptr);
        return success;
    });
}

// Only for workers of one thread: otherwise this lock would be taken while UCX holds its own, the
// wrong order. And not within a call of UCX by a handler, where UCX may call back for a worker that
// sends to itself.
bool ucd_ucx_rma::may_handle_now() {
    return pipeline->in_ucx_progress && !handling_ && !lock.is_needed() &&
           !endpoint_failures_.any_noted();
}

void ucd_ucx_rma::take_message(DirectMessage &message) {
    if (endpoint_failures_.since(message.ep, message.since) != UCS_OK) return;
    const Handling handling(handling_);
    Delivery delivery = {message.text(), message.ep, message.since, Payload(message)};
    take(delivery, &message);
}

void ucd_ucx_rma::take_beginning(DirectMessage &message) {
    if (endpoint_failures_.since(message.ep, message.since) != UCS_OK) return;
    const Delivery delivery = {message.text(), message.ep, message.since, Payload()};
    Preamble preamble;
    const Reading reading = decode(delivery.message, preamble);
    if (reading != Reading::good) return;
    if (is_request(preamble.verb)) target.refuse(preamble, delivery, Verdict::no_memory);
    if (preamble.verb == Verb::type) target.lose_type(preamble.number, message.ep);
    if (is_answer(preamble.verb))
        origin.take_failure(preamble.number, message.ep, UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    if (preamble.verb == Verb::answers) take_answers(message); // those that have arrived completely
}

void ucd_ucx_rma::take_answers(DirectMessage &message) {
    std::string_view left = message.text().substr(Preamble::bytes);
    for (std::string_view one; !(one = rma::take_answer(left)).empty();) {
        Delivery delivery = {one, message.ep, message.since, Payload(message, true)};
        Preamble preamble;
        const Reading reading = decode(one, preamble);
        if (reading == Reading::other_byte_order && is_answer(preamble.verb))
            take_refusal(preamble, delivery);
        else if (reading == Reading::good && is_answer(preamble.verb))
            take_answer(preamble, delivery);
    }
}

void ucd_ucx_rma::take_answer(const Preamble &preamble, Delivery &delivery) {
    Answer answer;
    std::string_view data;
    if (!decode(delivery.message, preamble, answer, data)) return;
    delivery.set_data(data);
    origin.take_answer(answer, delivery);
}

void ucd_ucx_rma::take(Delivery &delivery, DirectMessage *direct_message) {
    Preamble preamble;
    const Reading reading = decode(delivery.message, preamble);
    if (reading == Reading::other_byte_order && preamble.verb != Verb::answers)
        return take_foreign(preamble, delivery);
    if (reading != Reading::good && reading != Reading::other_byte_order) return;
    switch (preamble.verb) {
    case Verb::put:
    case Verb::get:
    case Verb::accumulate:
    case Verb::get_accumulate: return target.take_request(preamble, delivery);
    case Verb::type:
        delivery.set_data(delivery.message.substr(Preamble::bytes));
        return target.take_type(preamble.number, delivery);
    case Verb::answer:
    case Verb::answer_with_handle: return take_answer(preamble, delivery);
    case Verb::need_type: return origin.take_question(preamble.number, delivery.ep);
    case Verb::answers:
        if (direct_message != nullptr) take_answers(*direct_message);
        return;
    }
}

// A message from a peer of the other byte order. Data is not converted, so such peers refuse each
// other's requests.
void ucd_ucx_rma::take_foreign(const Preamble &preamble, Delivery &delivery) {
    if (is_request(preamble.verb)) target.refuse(preamble, delivery, Verdict::not_supported);
    if (is_answer(preamble.verb)) take_refusal(preamble, delivery);
}

void ucd_ucx_rma::take_refusal(const Preamble &preamble, Delivery &delivery) {
    origin.take_answer({Verdict::not_supported, UCD_SUCCESS, preamble.number, 0}, delivery);
}

void ucd_ucx_rma::take_old_request(ucp_ep_h ep, std::string_view refusal) {
    target.refuse_old(ep, refusal);
}

void ucd_ucx_rma::take_failure(ucp_ep_h ep, uint32_t number, ucs_status_t status) {
    origin.take_failure(number, ep, status, UCD_SUCCESS);
}

Status ucd_ucx_rma::on_endpoint_failed(ucp_ep_h ep, ucs_status_t status) {
    endpoint_failures_.note(ep, status);
    return Status(ucd_ucx_lose_endpoint(pipeline, ep, status));
}

void ucd_ucx_rma::handle_endpoint_failures() {
    // If one of them throws bad_alloc, both run again, so each may be repeated.
    endpoint_failures_.handle_each([this](const EndpointFailure &f) {
        origin.on_endpoint_failed(f.ep, f.status, f.before);
        target.on_endpoint_failed(f.ep, f.before);
    });
}

void ucd_ucx_rma::try_to_handle_endpoint_failures() noexcept {
    (void)without_exceptions([this] {
        handle_endpoint_failures();
        return success;
    });
}

bool ucd_ucx_rma::handle_events() {
    const bool any = events.handle_all(*pipeline);
    endpoint_failures_.forget();
    return any;
}

unsigned ucd_ucx_rma::progress() {
    unsigned moved = ucd_ucx_progress(pipeline);
    Queue<ucd_ucx_request> finished;
    {
        const std::lock_guard held(lock);
        const auto part = [&moved](auto &&body) { moved += retry_on_bad_alloc(body); };
        part([this] {
            handle_endpoint_failures();
            return handle_events();
        });
        part([this] { return awaited_.poll(*pipeline); });
        part([this] { return target.progress(); });
        part([this] {
            direct.send_gathered();
            return false;
        });
        part([this] {
            origin.check_times();
            return false;
        });
        part([this] {
            direct.make_spare();
            target.reserve_answers();
            return false;
        });
        finished = std::move(finished_);
    }
    moved += !finished.empty();
    while (!finished.empty()) finished.pop().call_back_and_let_go();
    return moved;
}
