#include "pipeline/pipeline.h"

#include "common/tokens.h"
#include "pipeline/framed.h"
#include "pipeline/recv_message.h"

#include <algorithm>
#include <utility>

using namespace ucd_ucx;

ucd_ucx_pipeline::ucd_ucx_pipeline(ucp_worker_h worker_of_user, const ucd_ucx_pipeline_params_t &p,
                                   const TransferOptions &o, const StagingLimits &limits,
                                   std::shared_ptr<Ledger> of_peers)
    : worker(worker_of_user), ledger(std::move(of_peers)), params(p), options(o),
      staging(p, limits.host), messages(*ledger), limits_(limits) {}

Status ucd_ucx_pipeline::open() {
    UCD_UCX_TRY(for_host.set("host", UCD_INFO__NULL, Direction::send));
    ucp_worker_attr_t worker_attributes = {};
    worker_attributes.field_mask =
        UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER | UCP_WORKER_ATTR_FIELD_THREAD_MODE;
    UCD_UCX_TRY(ucx_ok(ucp_worker_query(worker, &worker_attributes), "ucp_worker_query"));
    for (WorkerLock *l : {&lock, &events.lock})
        l->be_needed(worker_attributes.thread_mode == UCS_THREAD_MODE_MULTI);
    ledger->be_shared_by_threads(lock.is_needed());
    UCD_UCX_TRY(claim.take(worker, params.am_id));
    max_user_header = worker_attributes.max_am_header - 64;
    make_spare();
    UCD_UCX_TRY(
        ucx_ok(ucp_dt_create_generic(&frame_callbacks, nullptr, &framed), "ucp_dt_create_generic"));
    ucp_am_handler_param_t handler_params = {};
    handler_params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                                UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler_params.id = params.am_id;
    handler_params.flags = UCP_AM_FLAG_WHOLE_MSG;
    handler_params.cb = AmData::on_am;
    handler_params.arg = this;
    return ucx_ok(ucp_worker_set_am_recv_handler(worker, &handler_params),
                  "ucp_worker_set_am_recv_handler");
}

ucd_ucx_pipeline::~ucd_ucx_pipeline() {
    if (framed == 0) return; // the pipeline was not opened
    ucp_am_handler_param_t handler_params = {};
    handler_params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    handler_params.id = params.am_id;
    (void)ucp_worker_set_am_recv_handler(worker, &handler_params); // fails only if `open` did
    // No transfer is left, so the events are active messages that belong to none.
    events.drop_all([](Event &event) { delete static_cast<AmData *>(&event); });
    messages.clear();
    delete spare.load();
    Queue<ucd_ucx_request> finished = transfers.take_finished();
    while (!finished.empty()) finished.pop().let_go();
    ucp_dt_destroy(framed);
}

// Only the two ends of an endpoint know its stream, so that no third process can forge messages of
// its transfers.
MessageId ucd_ucx_pipeline::next_id(ucp_ep_h ep) {
    uint64_t &stream = streams_[ep];
    if (stream == 0) stream = random_token();
    return {stream, ++number_};
}

void ucd_ucx_pipeline::await(DeviceWork &chunk) {
    if (chunk.moving == UCD_REQUEST__NULL) return chunk.moved(*this, success);
    moving_.await(chunk);
}

Block ucd_ucx_pipeline::take_chunk(const TypedBuffer &buffer, std::size_t bytes,
                                   bool urgent) noexcept {
    if (params.allocate == nullptr && !buffer.device().empty()) {
        Block block;
        (void)without_exceptions([&] {
            block = chunks_of(buffer.device()).pinned.take(bytes, urgent);
            return success;
        });
        if (block || !urgent) return block;
    }
    return staging.take(bytes, urgent);
}

// The spare message is not used for longer headers than this.
void ucd_ucx_pipeline::make_spare() {
    constexpr std::size_t longest = 8 << 10;
    auto made = std::make_unique<AmData>();
    made->user_header.reserve(std::min(max_user_header + 64, longest));
    spare = made.release();
}

DeviceChunks &ucd_ucx_pipeline::chunks_of(const std::string &device) {
    std::unique_ptr<DeviceChunks> &chunks = device_chunks_[device];
    if (chunks == nullptr)
        chunks = std::make_unique<DeviceChunks>(device, limits_.host, limits_.ring);
    return *chunks;
}

bool ucd_ucx_pipeline::take_chunk_for(ucp_ep_h account, const TypedBuffer &buffer,
                                      std::size_t bytes, bool urgent, Block *block) {
    Charge charge;
    if (account != nullptr) {
        if (!ledger->is_possible(bytes, Use::chunk)) return true;
        charge = ledger->take(account, bytes, Use::chunk);
        if (!charge) return false;
    }
    *block = take_chunk(buffer, bytes, urgent);
    if (!*block) return urgent;
    block->hold(std::move(charge));
    return true;
}

// If a step throws bad_alloc, the next call of progress repeats it.
void ucd_ucx_pipeline::bar_exceeding() {
    for (;;) {
        if (barring_ == nullptr) barring_ = ledger->bar_next();
        if (barring_ == nullptr) return;
        for (const uint64_t stream : messages.streams_of(barring_, UINT64_MAX))
            end_stream(stream, UCS_ERR_EXCEEDS_LIMIT);
        for (RecvMessage *m : messages.of_endpoint(barring_))
            m->on_endpoint_failed(*this, UCS_ERR_EXCEEDS_LIMIT);
        messages.delete_forgotten(); // frees memory, lest another peer is barred for it
        barring_ = nullptr;
    }
}

void ucd_ucx_pipeline::end_stream(uint64_t stream, ucs_status_t status) {
    for (RecvMessage *message : messages.end_stream(stream, status))
        message->on_endpoint_failed(*this, status);
}

void ucd_ucx_pipeline::handle_endpoint_failures() {
    // If a step throws bad_alloc, all steps run again, so each may be repeated.
    endpoint_failures.handle_each([this](const EndpointFailure &f) {
        mappings.close_all(); // the mappings keep memory of processes that may be gone
        streams_.erase(f.ep);
        notifications.remove_unresponsive(f.ep);
        transfers.on_endpoint_failed(*this, f);
        for (const uint64_t stream : messages.streams_of(f.ep, f.before))
            end_stream(stream, f.status);
        for (RecvMessage *m : messages.of_endpoint(f.ep))
            if (m->since() < f.before) m->on_endpoint_failed(*this, f.status);
        messages.remove_endpoint(f.ep, f.before);
        ledger->close(f.ep);
    });
}

bool ucd_ucx_pipeline::call_users(std::unique_lock<WorkerLock> &held) {
    Queue<ucd_ucx_request> finished = transfers.take_finished();
    const bool any = !finished.empty() || !notifications.empty();
    if (handler == nullptr) notifications.drop_messages(*this);
    Notifications told = std::exchange(notifications, {});
    const auto callback = handler;
    void *const arg = handler_arg;
    held.unlock();
    while (!finished.empty()) finished.pop().call_back_and_let_go();
    told.call(params, callback, arg);
    return any;
}

unsigned ucd_ucx_pipeline::progress() {
    ledger->begin_call();
    if (!lock.is_needed()) in_ucx_progress = true;
    const unsigned moved = ucp_worker_progress(worker);
    if (!lock.is_needed()) in_ucx_progress = false;
    std::unique_lock held(lock, std::try_to_lock);
    if (!held.owns_lock()) return moved + 1; // another thread is in progress
    bool more = retry_on_bad_alloc([this] {
        handle_endpoint_failures();
        const bool any = events.handle_all(*this);
        endpoint_failures.forget();
        return any;
    });
    if (barring_ != nullptr || ledger->has_to_bar())
        more |= retry_on_bad_alloc([this] {
            bar_exceeding();
            return true;
        });
    more |= retry_on_bad_alloc([this] { return moving_.poll(*this); });
    more |= retry_on_bad_alloc([this] { return transfers.advance(*this); });
    more |= retry_on_bad_alloc([this] {
        if (spare.load(std::memory_order_relaxed) == nullptr) make_spare();
        return false;
    });
    messages.delete_forgotten();
    if (!transfers.empty() || !notifications.empty()) more |= call_users(held);
    return moved + more;
}
