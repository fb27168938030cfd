#include "engine/engine.h"

#include "engine/ucx_version.h"
#include "engine/version.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace ucd_ucx {

Status EngineSettings::read(ucd_info_t info) {
    UCD_TRY(read_transfer_options(info, options));
    UCD_TRY(read_number(info, "ucd.ucx.staging", 0, INTPTR_MAX, staging.host));
    UCD_TRY(read_number(info, "ucd.ucx.ring_staging", 0, INTPTR_MAX, staging.ring));
    UCD_TRY(read_number(info, "ucd.ucx.peer_memory", 1 << 20, INTPTR_MAX, budgets.peer));
    UCD_TRY(read_number(info, "ucd.ucx.peers_memory", 1 << 20, INTPTR_MAX, budgets.peers));
    UCD_TRY(read_number(info, "ucd.ucx.rma.peer_operations", 1, INTPTR_MAX, peer_operations));
    return read_number(info, "ucd.ucx.rma.types", 0, INTPTR_MAX, budgets.remembered);
}

WorkerEngine::WorkerEngine(const ucd_ucx_params_t &p, const EngineSettings &settings)
    : ledger(settings.budgets), params(p), options(settings.options), limits_(settings.staging),
      staging_(p, settings.staging.host) {}

Status WorkerEngine::open(ucp_worker_h worker) {
    static std::once_flag once;
    std::call_once(once, log_untested_version);
    UCD_TRY(for_host.set("host", UCD_INFO__NULL, TransferDirection::send));
    ucp_worker_attr_t worker_attributes = {};
    worker_attributes.field_mask =
        UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER | UCP_WORKER_ATTR_FIELD_THREAD_MODE;
    UCD_TRY(ucx_ok(ucp_worker_query(worker, &worker_attributes), "ucp_worker_query"));
    for (WorkerLock *l : {&lock, &events.lock})
        l->be_needed(worker_attributes.thread_mode == UCS_THREAD_MODE_MULTI);
    ledger.be_shared_by_threads(lock.is_needed());
    UCD_TRY(claim_.take(worker, params.am_id, lock.is_needed()));
    max_am_header_ = worker_attributes.max_am_header;
    make_spare();
    ucp_am_handler_param_t handler_params = {};
    handler_params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                                UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler_params.id = params.am_id;
    handler_params.flags = UCP_AM_FLAG_WHOLE_MSG;
    handler_params.cb = on_am;
    handler_params.arg = this;
    UCD_TRY(ucx_ok(ucp_worker_set_am_recv_handler(worker, &handler_params),
                   "ucp_worker_set_am_recv_handler"));
    worker_ = worker;
    return success;
}

void WorkerEngine::close() {
    if (worker_ == nullptr) return; // the engine was not opened
    ucp_am_handler_param_t handler_params = {};
    handler_params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    handler_params.id = params.am_id;
    (void)ucp_worker_set_am_recv_handler(worker_, &handler_params); // fails only if `open` did
    // Nothing is in progress, so the events are messages that no family has taken.
    while (Event *event = events.take()) delete static_cast<AmData *>(event);
    while (!notices.empty()) notices.pop().let_go();
}

WorkerEngine::~WorkerEngine() {
    delete spare_.load();
}

// Messages ------------------------------------------------------------------

Family *WorkerEngine::family_of(const AmData &message) const {
    const auto [transfers, one_sided] = families_;
    if (!message.header().empty())
        return is_transfer_of_version_2(message.header()) ? one_sided : transfers;
    // Rejects rendezvous: this side would have to fetch data that the peer may never provide.
    return message.data_bytes() == 0 || message.is_rendezvous() ? nullptr : one_sided;
}

ucs_status_t WorkerEngine::on_am(void *engine, const void *header, std::size_t header_bytes,
                                 void *data, std::size_t bytes, const ucp_am_recv_param_t *param) {
    auto &self = *static_cast<WorkerEngine *>(engine);
    // A message without an endpoint cannot be charged to a peer.
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) == 0 || param->reply_ep == nullptr)
        return UCS_OK;
    AmData message(self, param->reply_ep, {static_cast<const char *>(header), header_bytes}, data,
                   bytes, param->recv_attr);
    Family *const family = self.family_of(message);
    if (family == nullptr) return UCS_OK;
    if (!self.may_take_at_once_ || self.endpoint_failures.any_noted()) return self.keep(message);
    bool taken = true;
    message.since = self.events.now();
    self.may_take_at_once_ = false;
    try {
        taken = family->take_at_once(message);
    } catch (const std::bad_alloc &) { // the same as for messages that are taken later
    }
    self.may_take_at_once_ = true;
    return taken ? UCS_OK : self.keep(message);
}

// A message is not kept if its peer has no budget for it. If there is no memory for an account, the
// message is not charged, and neither is the spare message.
ucs_status_t WorkerEngine::keep(AmData &message) {
    Charge charge;
    const Status may_be_charged = without_exceptions([&] {
        charge = ledger.take(message.ep, message.bytes_to_keep(), LedgerUse::message);
        return success;
    });
    if (may_be_charged.ok() && !charge) return UCS_OK;
    const bool is_held = message.is_holdable();
    std::unique_ptr<AmData> kept = message.kept();
    if (kept == nullptr)
        // For a rendezvous, UCX reports the error to the sender. For other messages, UCX accepts no
        // error.
        return message.is_rendezvous() ? UCS_ERR_NO_MEMORY : UCS_OK;
    kept->charge = std::move(charge);
    AmData &put = *kept.release();
    events.put(put, &put.since);
    return is_held ? UCS_INPROGRESS : UCS_OK;
}

void WorkerEngine::make_spare() {
    if (spare_.load(std::memory_order_relaxed) == nullptr)
        spare_ = std::make_unique<AmData>(*this).release();
}

// Memory and devices ----------------------------------------------------------

void WorkerEngine::await(DeviceWork &work, Status started) {
    if (!started.ok() || work.moving == UCD_REQUEST__NULL) return work.moved(started);
    moving_.await(work);
}

StagingBlock WorkerEngine::take_chunk(const TypedBuffer &buffer, std::size_t bytes,
                                      bool urgent) noexcept {
    if (params.allocate == nullptr && !buffer.device().empty()) {
        StagingBlock block;
        (void)without_exceptions([&] {
            block = chunks_of(buffer.device()).pinned.take(bytes, urgent);
            return success;
        });
        if (block || !urgent) return block;
    }
    return staging_.take(bytes, urgent);
}

DeviceChunks &WorkerEngine::chunks_of(const std::string &device) {
    std::unique_ptr<DeviceChunks> &chunks = device_chunks_[device];
    if (chunks == nullptr)
        chunks = std::make_unique<DeviceChunks>(device, limits_.host, limits_.ring);
    return *chunks;
}

bool WorkerEngine::take_chunk_for(ucp_ep_h account, const TypedBuffer &buffer, std::size_t bytes,
                                  bool urgent, StagingBlock *block, bool in_ring) {
    Charge charge;
    if (account != nullptr) {
        const uint64_t charged = in_ring ? DeviceChunks::bytes_of_shared(bytes) : bytes;
        if (!ledger.is_possible(charged, LedgerUse::chunk)) return true;
        charge = ledger.take(account, charged, LedgerUse::chunk);
        if (!charge) return false;
    }
    *block = in_ring ? chunks_of(buffer.device()).take_shared(bytes, urgent)
                     : take_chunk(buffer, bytes, urgent);
    if (!*block) return urgent;
    block->hold(std::move(charge));
    return true;
}

// Progress --------------------------------------------------------------------

// If a step throws bad_alloc, all steps run again, so each may be repeated.
void WorkerEngine::handle_endpoint_failures() {
    endpoint_failures.handle_each([this](const EndpointFailure &failure) {
        std::erase(unresponsive_, failure.ep);
        for_each_family([&](Family &family) { family.on_endpoint_failed(failure); });
        links.close(failure.ep);
        if (link_end_.ep == failure.ep) link_end_ = {};
        ledger.close(failure.ep);
    });
}

// If a step throws bad_alloc, the next call of progress repeats it.
void WorkerEngine::bar_exceeding() {
    for (;;) {
        if (barring_ == nullptr) barring_ = ledger.bar_next();
        if (barring_ == nullptr) return;
        for_each_family([this](Family &family) { family.on_barred(barring_); });
        barring_ = nullptr;
    }
}

// If a step throws bad_alloc, the next call of progress repeats it.
bool WorkerEngine::advance_links() {
    const bool any = links.progress();
    for (;;) {
        if (link_end_.ep == nullptr) link_end_ = links.take_end();
        if (link_end_.ep == nullptr) return any;
        for_each_family(
            [this](Family &family) { family.on_link_ended(link_end_.ep, link_end_.is_process); });
        link_end_ = {};
    }
}

void WorkerEngine::report_unresponsive(ucp_ep_h ep) {
    if (params.unresponsive == nullptr || ep == nullptr) return;
    if (std::find(unresponsive_.begin(), unresponsive_.end(), ep) == unresponsive_.end())
        unresponsive_.push_back(ep);
}

// One thread at a time calls the user. What others have to tell meanwhile stays in the queue for
// later calls of progress, so that all is told in order.
bool WorkerEngine::tell_user(std::unique_lock<WorkerLock> &held) {
    if (notices.empty() && unresponsive_.empty()) return false;
    if (is_telling_) return true;
    struct Telling { // ends also if a callback throws
        WorkerEngine &engine;
        std::unique_lock<WorkerLock> &held;
        ~Telling() {
            if (!held.owns_lock()) held.lock();
            engine.told_now_ = nullptr;
            engine.is_telling_ = false;
        }
    } const telling{*this, held};
    is_telling_ = true;
    Queue<Notice> told = std::move(notices);
    held.unlock();
    while (!told.empty()) {
        Notice &notice = told.pop();
        told_now_.store(&notice, std::memory_order_release);
        notice.tell();
    }
    held.lock();
    // One at a time, since each callback may lose further endpoints, and close them.
    while (!unresponsive_.empty()) {
        const bool is_over = retry_on_bad_alloc([this] {
            handle_endpoint_failures();
            return unresponsive_.empty();
        });
        if (is_over) break;
        const ucp_ep_h ep = unresponsive_.front();
        unresponsive_.erase(unresponsive_.begin());
        held.unlock();
        params.unresponsive(ep, params.unresponsive_arg);
        held.lock();
    }
    return true;
}

unsigned WorkerEngine::progress() {
    ledger.begin_call();
    const bool takes_at_once = !lock.is_needed() && families_[1] != nullptr;
    if (takes_at_once) may_take_at_once_ = true;
    unsigned moved = 1; // if another thread makes progress
    if (const std::unique_lock held(claim_.progress_lock(), std::try_to_lock); held.owns_lock())
        moved = ucp_worker_progress(worker_);
    if (takes_at_once) may_take_at_once_ = false;
    std::unique_lock held(lock, std::try_to_lock);
    if (!held.owns_lock()) return moved + 1; // another thread is in progress
    bool more = retry_on_bad_alloc([this] {
        handle_endpoint_failures();
        const bool any = events.handle_all();
        endpoint_failures.forget();
        return any;
    });
    if (barring_ != nullptr || ledger.has_to_bar())
        more |= retry_on_bad_alloc([this] {
            bar_exceeding();
            return true;
        });
    if (options.direct != Trust::none)
        more |= retry_on_bad_alloc([this] { return advance_links(); });
    more |= retry_on_bad_alloc([this] { return moving_.poll(); });
    for_each_family([&more](Family &family) {
        more |= retry_on_bad_alloc([&family] { return family.advance(); });
    });
    more |= retry_on_bad_alloc([this] {
        make_spare();
        return false;
    });
    more |= tell_user(held);
    return moved + more;
}

} // namespace ucd_ucx
