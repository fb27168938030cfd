#include "pipeline.h"

#include "framed.h"
#include "incoming.h"
#include "receiving.h"
#include "sending.h"
#include "tokens.h"

#include <algorithm>
#include <utility>

using namespace ucd_ucx;

ucd_ucx_pipeline::ucd_ucx_pipeline(ucp_worker_h worker_of_user, const ucd_ucx_pipeline_params_t &p,
                                   const TransferOptions &o, const MemoryLimits &limits)
    : worker(worker_of_user), params(p), options(o), staging(p, limits.staging),
      messages(limits.peer, limits.peers), limits_(limits) {}

Status ucd_ucx_pipeline::open() {
    UCD_UCX_TRY(for_host.set("host", UCD_INFO__NULL, Direction::send));
    ucp_worker_attr_t worker_attributes = {};
    worker_attributes.field_mask =
        UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER | UCP_WORKER_ATTR_FIELD_THREAD_MODE;
    UCD_UCX_TRY(ucx_ok(ucp_worker_query(worker, &worker_attributes), "ucp_worker_query"));
    for (WorkerLock *l : {&lock, &inbox.lock})
        l->be_needed(worker_attributes.thread_mode == UCS_THREAD_MODE_MULTI);
    UCD_UCX_TRY(claim.take(worker, params.am_id));
    max_user_header = worker_attributes.max_am_header - 64;
    UCD_UCX_TRY(
        ucx_ok(ucp_dt_create_generic(&frame_callbacks, nullptr, &framed), "ucp_dt_create_generic"));
    ucp_am_handler_param_t handler_params = {};
    handler_params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                                UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler_params.id = params.am_id;
    handler_params.flags = UCP_AM_FLAG_WHOLE_MSG;
    handler_params.cb = Arrival::on_arrival;
    handler_params.arg = this;
    return ucx_ok(ucp_worker_set_am_recv_handler(worker, &handler_params),
                  "ucp_worker_set_am_recv_handler");
}

ucd_ucx_pipeline::~ucd_ucx_pipeline() {
    if (framed == 0) return; // it was never open
    ucp_am_handler_param_t handler_params = {};
    handler_params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    handler_params.id = params.am_id;
    (void)ucp_worker_set_am_recv_handler(worker, &handler_params); // fails only if open did
    Queue<Event> late = inbox.take_all();
    // What has come and nobody took. No transfer is left, so these are arrivals that nothing else
    // knows of.
    for (Queue<Event> *events : {&events_, &late}) {
        while (!events->empty()) delete static_cast<Arrival *>(&events->pop());
    }
    messages.clear();
    while (!finished_.empty()) finished_.pop().let_go();
    ucp_dt_destroy(framed);
}

// Only the two ends of an endpoint know its stream, so no third one can speak of its transfers.
MessageId ucd_ucx_pipeline::next_id(ucp_ep_h ep) {
    uint64_t &stream = streams_[ep];
    if (stream == 0) stream = random_token();
    return {stream, ++number_};
}

void ucd_ucx_pipeline::await(DeviceWork &chunk) {
    if (chunk.moving == UCD_REQUEST__NULL) return chunk.moved(*this, success);
    moving_.await(chunk);
}

Block ucd_ucx_pipeline::take_chunk(const Operand &operand, std::size_t bytes, bool urgent) {
    if (params.allocate == nullptr && !operand.device().empty()) {
        Block block = chunks_of(operand.device()).pinned.take(bytes, urgent);
        if (block || !urgent) return block;
    }
    return staging.take(bytes, urgent);
}

DeviceChunks &ucd_ucx_pipeline::chunks_of(const std::string &device) {
    std::unique_ptr<DeviceChunks> &chunks = device_chunks_[device];
    if (chunks == nullptr)
        chunks = std::make_unique<DeviceChunks>(device, limits_.staging, limits_.ring_staging);
    return *chunks;
}

void ucd_ucx_pipeline::add(Sending &sending) {
    sendings_.push_back(&sending);
    sending.handed_out = true;
    ++outstanding;
}

void ucd_ucx_pipeline::add(Receiving &receiving) {
    receivings_.push_back(&receiving);
    receiving.handed_out = true;
    ++outstanding;
}

void ucd_ucx_pipeline::remove(Receiving &receiving) {
    std::erase(receivings_, &receiving);
    --outstanding;
}

bool ucd_ucx_pipeline::charge(Incoming &message, uint64_t bytes) {
    if (messages.charge(message, bytes)) return true;
    const ucp_ep_h barred = messages.most_charged(message.ep());
    for (const uint64_t stream : messages.bar(barred)) end_stream(stream, UCS_ERR_EXCEEDS_LIMIT);
    for (Incoming *m : messages.of_endpoint(barred)) m->lose(*this, UCS_ERR_EXCEEDS_LIMIT);
    return barred != message.ep();
}

void ucd_ucx_pipeline::end_stream(uint64_t stream, ucs_status_t status) {
    for (Incoming *message : messages.end_stream(stream, status)) message->lose(*this, status);
}

void ucd_ucx_pipeline::deliver(Incoming &message) {
    deliveries_.push(message);
}

void ucd_ucx_pipeline::report_unresponsive(ucp_ep_h ep) {
    if (params.unresponsive == nullptr || ep == nullptr) return;
    if (std::find(unresponsive_.begin(), unresponsive_.end(), ep) == unresponsive_.end())
        unresponsive_.push_back(ep);
}

void ucd_ucx_pipeline::handle_losses() {
    const std::vector<Loss> lost = losses.take();
    if (!lost.empty()) mappings.close_all(); // they keep memory of processes that may be gone
    for (const Loss &l : lost) {
        streams_.erase(l.ep);
        std::erase(unresponsive_, l.ep);
        for (Sending *s : sendings_) s->lose(*this, l.ep, l.status, l.before);
        for (const uint64_t stream : messages.remove_endpoint(l.ep, l.before))
            end_stream(stream, l.status);
        for (Incoming *m : messages.of_endpoint(l.ep))
            if (m->since() < l.before) m->lose(*this, l.status);
    }
}

bool ucd_ucx_pipeline::handle_events() {
    // One that ends in bad_alloc must not take the others with it.
    if (events_.empty()) events_ = inbox.take_all();
    const bool any = !events_.empty();
    while (!events_.empty()) events_.pop().happen(*this);
    losses.forget();
    return any;
}

bool ucd_ucx_pipeline::advance() {
    bool any = false;
    // Chunks that arrived first: they free memory.
    for (std::size_t i = 0; i < receivings_.size(); ++i) receivings_[i]->advance(*this);
    for (std::size_t i = 0; i < sendings_.size(); ++i) any |= sendings_[i]->advance(*this);
    return any;
}

bool ucd_ucx_pipeline::has_to_tell() const {
    return !finished_.empty() || !deliveries_.empty() || !unresponsive_.empty() ||
           !sendings_.empty() || !receivings_.empty();
}

bool ucd_ucx_pipeline::call_users(std::unique_lock<WorkerLock> &held) {
    const auto complete = [](const ucd_ucx_request *r) { return r->is_complete(); };
    std::erase_if(sendings_, complete);
    std::erase_if(receivings_, complete);
    Queue<ucd_ucx_request> finished = std::move(finished_);
    Queue<Incoming> deliveries = std::move(deliveries_);
    const std::vector<ucp_ep_h> unresponsive = std::exchange(unresponsive_, {});
    const bool any = !finished.empty() || !deliveries.empty() || !unresponsive.empty();
    const auto tell = handler;
    void *const arg = handler_arg;
    while (tell == nullptr && !deliveries.empty()) deliveries.pop().drop(*this);
    held.unlock();
    while (!finished.empty()) finished.pop().call_back_and_let_go();
    while (!deliveries.empty()) {
        Incoming &m = deliveries.pop();
        tell(arg, m.header().user_id, m.user_header().data(), m.user_header().size(),
             reinterpret_cast<ucd_ucx_data_t>(&m), m.total(), m.ep());
    }
    for (ucp_ep_h ep : unresponsive) params.unresponsive(ep, params.unresponsive_arg);
    return any;
}

unsigned ucd_ucx_pipeline::progress() {
    if (!lock.is_needed()) in_ucx_progress = true;
    const unsigned moved = ucp_worker_progress(worker);
    if (!lock.is_needed()) in_ucx_progress = false;
    std::unique_lock held(lock, std::try_to_lock);
    if (!held.owns_lock()) return moved + 1; // another thread is at it
    handle_losses();
    bool more = handle_events();
    more |= moving_.poll(*this);
    more |= advance();
    messages.delete_forgotten();
    if (has_to_tell()) more |= call_users(held);
    return moved + more;
}
