// A pipeline manages the transfers of one worker.
#pragma once

#include "common/am_claim.h"
#include "common/endpoint_failures.h"
#include "common/event_queue.h"
#include "common/ledger.h"
#include "common/worker_lock.h"
#include "datatype/options.h"
#include "datatype/typed_buffer.h"
#include "memory/device_chunks.h"
#include "memory/mappings.h"
#include "memory/staging.h"
#include "pipeline/device_work.h"
#include "pipeline/message.h"
#include "pipeline/message_table.h"
#include "pipeline/notifications.h"
#include "pipeline/transfer_table.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ucd_ucx {

class AmData;
class RecvMessage;

// Takes messages with the pipeline's active message id that are not the pipeline's own. UCX's
// callback calls it.
class DirectReceiver {
public:
    // Returns what UCX's callback has to return, or nothing if the message is not for this
    // receiver.
    virtual std::optional<ucs_status_t> take(std::string_view header, void *data, std::size_t bytes,
                                             const ucp_am_recv_param_t &param) = 0;

protected:
    ~DirectReceiver() = default;
};

// Limits on the memory for chunks, in bytes.
struct StagingLimits {
    uint64_t host = 64 << 20;
    uint64_t ring = 256 << 20;
};

} // namespace ucd_ucx

// The caller holds the lock, except where a comment says otherwise.
struct ucd_ucx_pipeline {
    ucd_ucx_pipeline(ucp_worker_h worker_of_user, const ucd_ucx_pipeline_params_t &params,
                     const ucd_ucx::TransferOptions &options, const ucd_ucx::StagingLimits &limits,
                     std::shared_ptr<ucd_ucx::Ledger> ledger);
    ~ucd_ucx_pipeline();
    ucd_ucx::Status open();

    unsigned progress(); // without the lock

    ucd_ucx::MessageId next_id(ucp_ep_h ep);
    void trace(int what, const ucd_ucx::MessageId &id, uint64_t offset, uint64_t bytes) const {
        if (params.trace == nullptr) return;
        const ucd_ucx_event_t event = {what, id.stream, id.number, offset, bytes};
        params.trace(&event, params.trace_arg);
    }

    // Calls chunk.moved when the device is done, which may be before this returns.
    void await(ucd_ucx::DeviceWork &chunk);

    // Takes host memory for a chunk, preferably pinned if the data is on a device; see
    // Staging::take.
    ucd_ucx::Block take_chunk(const ucd_ucx::TypedBuffer &buffer, std::size_t bytes,
                              bool urgent) noexcept;
    ucd_ucx::DeviceChunks &chunks_of(const std::string &device);

    // Takes a chunk on a peer's account. Returns false if it has to wait. If it returns true and
    // *block is empty, there is no memory and waiting would not help.
    bool take_chunk_for(ucp_ep_h account, const ucd_ucx::TypedBuffer &buffer, std::size_t bytes,
                        bool urgent, ucd_ucx::Block *block);
    // Ends the transfers of peers that have exceeded their budgets.
    void bar_exceeding();
    // The endpoint of that stream has failed or is barred.
    void end_stream(uint64_t stream, ucs_status_t status);
    void handle_endpoint_failures();

    const ucp_worker_h worker;
    const std::shared_ptr<ucd_ucx::Ledger> ledger; // outlives all objects that have charges
    ucd_ucx::AmClaim claim;
    const ucd_ucx_pipeline_params_t params;
    const ucd_ucx::TransferOptions options;
    ucd_ucx::EventQueue events;
    ucd_ucx::EndpointFailures endpoint_failures{events};
    ucd_ucx::Staging staging;
    ucd_ucx::Mappings mappings;
    ucd_ucx::MessageTable messages;
    ucd_ucx::TransferTable transfers;
    ucd_ucx::Notifications notifications;
    // Used for an active message that arrives when there is no memory for it: otherwise it would be
    // lost, and its sender would wait forever. UCX's callbacks take it, and progress makes a new
    // one.
    std::atomic<ucd_ucx::AmData *> spare = nullptr;
    ucd_ucx::DirectReceiver *direct = nullptr; // set before the first message arrives
    bool in_ucx_progress = false;              // used only for workers of one thread
    ucp_datatype_t framed = 0;                 // see framed.h
    ucd_ucx::Hints for_host;                   // for host memory without other hints
    std::size_t max_user_header = 0;
    ucd_ucx::WorkerLock lock;

    ucd_ucx_am_callback_t handler = nullptr;
    void *handler_arg = nullptr;

    // A transfer has waited for the endpoint beyond its time limit.
    void report_unresponsive(ucp_ep_h ep) {
        if (params.unresponsive != nullptr && ep != nullptr) notifications.add_unresponsive(ep);
    }

private:
    const ucd_ucx::StagingLimits limits_;
    ucp_ep_h barring_ = nullptr; // the peer that is being barred
    std::unordered_map<std::string, std::unique_ptr<ucd_ucx::DeviceChunks>> device_chunks_;

    bool call_users(std::unique_lock<ucd_ucx::WorkerLock> &held);

    uint64_t number_ = 0;
    std::unordered_map<ucp_ep_h, uint64_t> streams_; // of sent transfers, by endpoint
    ucd_ucx::DeviceQueue moving_;
    void make_spare();
};
