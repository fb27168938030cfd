// What all messages over one worker share: the lock, the queue of events, failed endpoints, work of
// devices, memory for chunks, what users have to be told, and progress. Two families of messages
// are attached to it: transfers, and one-sided operations.
#pragma once

#include "common/ledger.h"
#include "common/worker_lock.h"
#include "datatype/options.h"
#include "datatype/typed_buffer.h"
#include "direct/links.h"
#include "engine/am_claim.h"
#include "engine/am_data.h"
#include "engine/device_queue.h"
#include "engine/endpoint_failures.h"
#include "engine/event_queue.h"
#include "engine/request.h"
#include "memory/device_chunks.h"
#include "memory/staging.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ucd_ucx {

// The engine's lock is held, except where a comment says otherwise.
class Family {
public:
    // Takes a message. If it throws std::bad_alloc before anything has changed, it has put the
    // message back.
    virtual void take(std::unique_ptr<AmData> message) = 0;
    // Takes a message within UCX's callback, for which it is lent. Returns false if `take` has to
    // be called later.
    virtual bool take_at_once(AmData &) { return false; }
    // These may be repeated, if a step throws std::bad_alloc.
    virtual void on_endpoint_failed(const EndpointFailure &failure) = 0;
    virtual void on_barred(ucp_ep_h ep) = 0;
    // Nothing can be read any more from the process behind `ep`. `is_process`: it has ended, and
    // reads nothing either. Else its owner has closed the link.
    virtual void on_link_ended(ucp_ep_h, bool /*is_process*/) {}
    // A part of progress. Returns whether there was, or still is, something to do.
    virtual bool advance() = 0;

protected:
    ~Family() = default;
};

// Limits on the memory for chunks, in bytes.
struct StagingLimits {
    uint64_t host = 64 << 20;
    uint64_t ring = 256 << 20;
};

struct EngineSettings {
    Status read(ucd_info_t info);

    Ledger::Limits budgets;
    TransferOptions options;
    StagingLimits staging;
    // Of one-sided operations; see rma::Target.
    uint64_t peer_operations = 64 << 10;
};

// The caller holds the lock, except where a comment says otherwise.
class WorkerEngine {
public:
    WorkerEngine(const ucd_ucx_params_t &params, const EngineSettings &settings);
    ~WorkerEngine();
    WorkerEngine(const WorkerEngine &) = delete;
    WorkerEngine &operator=(const WorkerEngine &) = delete;

    // The families are attached before the engine is opened. One-sided operations are optional.
    void attach_transfers(Family &family) { families_[0] = &family; }
    void attach_one_sided(Family &family) { families_[1] = &family; }
    Status open(ucp_worker_h worker);
    // No message arrives any more, and those that have not been taken are dropped.
    void close();

    unsigned progress(); // without the lock
    void handle_endpoint_failures();

    // For work that was started with this status. Calls work.moved when the device is done, which
    // may be before this returns.
    void await(DeviceWork &work, Status started = success);
    // Progress tells the user.
    void finish(ucd_ucx_request &request, const Result &result) {
        request.complete(result);
        notices.push(request);
    }
    // Whether the user is being told this, in whichever thread: it must not be deleted.
    bool is_being_told(const Notice &notice) const {
        return told_now_.load(std::memory_order_acquire) == &notice;
    }
    // A transfer or an operation has waited for the endpoint beyond its time limit.
    void report_unresponsive(ucp_ep_h ep);

    // Takes host memory for a chunk, preferably pinned if the data is on a device; see
    // Staging::take.
    StagingBlock take_chunk(const TypedBuffer &buffer, std::size_t bytes, bool urgent) noexcept;
    // Takes a chunk on a peer's account, or on none if that is null; `in_ring`, in memory of the
    // buffer's device that other processes can open. Returns false if it has to wait. If it returns
    // true and *block is empty, there is no memory and waiting would not help.
    bool take_chunk_for(ucp_ep_h account, const TypedBuffer &buffer, std::size_t bytes, bool urgent,
                        StagingBlock *block, bool in_ring = false);
    DeviceChunks &chunks_of(const std::string &device);

    ucp_worker_h worker() const { return worker_; }
    unsigned am_id() const { return params.am_id; }
    ProgressLock &progress_lock() const { return claim_.progress_lock(); }
    std::size_t max_am_header() const { return max_am_header_; }

    // Used by active messages that arrive, without the lock:
    std::unique_ptr<AmData> take_spare() {
        return std::unique_ptr<AmData>(spare_.exchange(nullptr));
    }
    Family *family_of(const AmData &message) const; // null: nobody takes it
    static ucs_status_t on_am(void *engine, const void *header, std::size_t header_bytes,
                              void *data, std::size_t bytes, const ucp_am_recv_param_t *param);

    Ledger ledger; // outlives all objects that have charges
    const ucd_ucx_params_t params;
    const TransferOptions options;
    WorkerLock lock;
    EventQueue events;
    EndpointFailures endpoint_failures{events};
    Links links{ledger};
    BufferHints for_host; // for host memory without other hints
    UserHandler handler;
    Queue<Notice> notices;

private:
    template <class Step>
    void for_each_family(Step &&step) const {
        for (Family *family : families_)
            if (family != nullptr) step(*family);
    }
    ucs_status_t keep(AmData &message);
    void bar_exceeding();
    bool advance_links();
    void make_spare();
    bool tell_user(std::unique_lock<WorkerLock> &held);

    const StagingLimits limits_;
    ucp_worker_h worker_ = nullptr;
    AmClaim claim_;
    std::size_t max_am_header_ = 0;
    std::array<Family *, 2> families_ = {}; // transfers, and one-sided operations or null
    Staging staging_;
    std::unordered_map<std::string, std::unique_ptr<DeviceChunks>> device_chunks_;
    DeviceQueue moving_;
    std::vector<ucp_ep_h> unresponsive_;
    bool is_telling_ = false; // a thread calls the user
    std::atomic<const Notice *> told_now_ = nullptr;
    ucp_ep_h barring_ = nullptr; // the peer that is being barred
    LinkEnd link_end_;           // that the families are being told of
    // Used for a message that arrives when there is no memory for it: otherwise it would be lost,
    // and its sender would wait forever. UCX's callbacks take it, and progress makes a new one.
    std::atomic<AmData *> spare_ = nullptr;
    // Only for workers of one thread: otherwise the lock would be taken while UCX holds its own,
    // the wrong order, and this would be written by several. And not within a call of UCX by a
    // family, where UCX may call back for a worker that sends to itself.
    bool may_take_at_once_ = false;
};

} // namespace ucd_ucx
