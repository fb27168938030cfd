#include "pipeline.h"

#include "framed.h"
#include "incoming.h"
#include "receiving.h"
#include "sending.h"

#include <algorithm>
#include <random>

using namespace ucd_ucx;

namespace {

// No two pipelines that could meet have the same.
uint64_t random_number() {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
}

} // namespace

ucd_ucx_pipeline::ucd_ucx_pipeline(ucp_worker_h worker_of_user, const ucd_ucx_pipeline_params_t &p,
                                   const TransferOptions &o, uint64_t staging_limit,
                                   uint64_t ring_limit)
    : worker(worker_of_user), params(p), options(o), staging(p, staging_limit),
      staging_limit_(staging_limit), ring_limit_(ring_limit), sender_(random_number()) {}

Status ucd_ucx_pipeline::open() {
    UCD_UCX_TRY(for_host.set("host", UCD_INFO__NULL, Direction::send));
    ucp_worker_attr_t worker_attributes = {};
    worker_attributes.field_mask =
        UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER | UCP_WORKER_ATTR_FIELD_THREAD_MODE;
    UCD_UCX_TRY(ucx_ok(ucp_worker_query(worker, &worker_attributes), "ucp_worker_query"));
    for (WorkerLock *l : {&lock, &inbox.lock})
        l->be_needed(worker_attributes.thread_mode == UCS_THREAD_MODE_MULTI);
    most_user_header = worker_attributes.max_am_header - 64;
    UCD_UCX_TRY(
        ucx_ok(ucp_dt_create_generic(&frame_callbacks, nullptr, &framed), "ucp_dt_create_generic"));
    ucp_am_handler_param_t handler_params = {};
    handler_params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                                UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler_params.id = params.am_id;
    handler_params.flags = UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA;
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
    (void)handle_events();                                         // what came and nobody knows of
    incoming_.clear();
    forgotten_.clear();
    while (!finished_.empty()) finished_.pop().let_go();
    ucp_dt_destroy(framed);
}

void ucd_ucx_pipeline::await(Chunk &chunk) {
    if (chunk.moving == UCD_REQUEST__NULL) return chunk.moved(*this, success);
    moving_.push_back(&chunk);
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
        chunks = std::make_unique<DeviceChunks>(device, staging_limit_, ring_limit_);
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

Incoming &ucd_ucx_pipeline::incoming(const MessageId &id) {
    std::unique_ptr<Incoming> &place = incoming_[id];
    if (place == nullptr) place = std::make_unique<Incoming>(id);
    return *place;
}

Incoming *ucd_ucx_pipeline::find_incoming(const MessageId &id) {
    const auto found = incoming_.find(id);
    return found == incoming_.end() ? nullptr : found->second.get();
}

void ucd_ucx_pipeline::forget(Incoming &message) {
    const auto found = incoming_.find(message.id());
    if (found == incoming_.end() || found->second.get() != &message) return;
    forgotten_.push_back(std::move(found->second));
    incoming_.erase(found);
}

void ucd_ucx_pipeline::deliver(Incoming &message) {
    deliveries_.push(message);
}

void ucd_ucx_pipeline::lose(ucp_ep_h ep, ucs_status_t status) {
    const std::lock_guard held(losses_lock_);
    losses_.push_back({ep, status, ++clock_});
}

void ucd_ucx_pipeline::handle_losses() {
    if (losses_handled_ == clock_) return;
    std::vector<Loss> losses;
    {
        const std::lock_guard held(losses_lock_);
        losses.swap(losses_);
        losses_handled_ = clock_;
    }
    mappings.close_all(); // they keep memory of processes that may be gone
    for (const Loss &l : losses) {
        last_losses_[l.ep] = l;
        for (Sending *s : sendings_) s->lose(*this, l.ep, l.status, l.before);
        std::vector<Incoming *> messages;
        for (const auto &[id, message] : incoming_) messages.push_back(message.get());
        for (Incoming *m : messages) m->lose(*this, l.ep, l.status, l.before);
    }
}

ucs_status_t ucd_ucx_pipeline::loss_since(ucp_ep_h ep, uint64_t time) const {
    const auto found = last_losses_.find(ep);
    return found != last_losses_.end() && time < found->second.before ? found->second.status
                                                                      : UCS_OK;
}

bool ucd_ucx_pipeline::handle_events() {
    Queue<Event> events = inbox.take_all();
    const bool any = !events.empty();
    while (!events.empty()) events.pop().happen(*this);
    return any;
}

bool ucd_ucx_pipeline::poll_devices() {
    bool any = false;
    for (std::size_t i = 0; i < moving_.size();) {
        Chunk &chunk = *moving_[i];
        int done = 0;
        const Status status = ucd_ok(ucd_test(&chunk.moving, &done));
        if (done == 0) {
            ++i;
            continue;
        }
        moving_[i] = moving_.back();
        moving_.pop_back();
        chunk.moved(*this, status);
        any = true;
    }
    return any;
}

bool ucd_ucx_pipeline::advance() {
    bool any = false;
    // Chunks that arrived first: they free memory.
    for (std::size_t i = 0; i < receivings_.size(); ++i) receivings_[i]->advance(*this);
    for (std::size_t i = 0; i < sendings_.size(); ++i) any |= sendings_[i]->advance(*this);
    return any;
}

bool ucd_ucx_pipeline::call_users(std::unique_lock<WorkerLock> &held) {
    const auto complete = [](const ucd_ucx_request *r) { return r->is_complete(); };
    std::erase_if(sendings_, complete);
    std::erase_if(receivings_, complete);
    forgotten_.clear();
    Queue<ucd_ucx_request> finished = std::move(finished_);
    Queue<Incoming> deliveries = std::move(deliveries_);
    const bool any = !finished.empty() || !deliveries.empty();
    const auto tell = handler;
    void *const arg = handler_arg;
    while (tell == nullptr && !deliveries.empty()) deliveries.pop().drop(*this);
    held.unlock();
    while (!finished.empty()) finished.pop().call_back_and_let_go();
    while (!deliveries.empty()) {
        Incoming &m = deliveries.pop();
        tell(arg, m.header().user_id, m.user_header().data(), m.user_header().size(),
             reinterpret_cast<ucd_ucx_data_t>(&m), m.total(), m.reply_ep());
    }
    return any;
}

unsigned ucd_ucx_pipeline::progress() {
    const unsigned moved = ucp_worker_progress(worker);
    std::unique_lock held(lock, std::try_to_lock);
    if (!held.owns_lock()) return moved + 1; // another thread is at it
    handle_losses();
    bool more = handle_events();
    more |= poll_devices();
    more |= advance();
    more |= call_users(held);
    return moved + more;
}
