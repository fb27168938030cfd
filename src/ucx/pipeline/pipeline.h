// A pipeline: the transfers of one worker.
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

// Takes messages of the pipeline's number that are not the pipeline's own. Called by UCX.
class DirectReceiver {
public:
    // What UCX's callback is to return, or nothing: the message is not for this.
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

// The lock is held in every function, except where a comment says otherwise.
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

    // Calls chunk.moved when the device is done; at once if it is done already.
    void await(ucd_ucx::DeviceWork &chunk);

    // Memory for a chunk on the host, as fits the data: see Staging::take.
    ucd_ucx::Block take_chunk(const ucd_ucx::TypedBuffer &buffer, std::size_t bytes,
                              bool urgent) noexcept;
    ucd_ucx::DeviceChunks &chunks_of(const std::string &device);

    // A chunk on the account of a peer. False: it has to wait, or *block is empty if there is no
    // memory for it and never will be.
    bool take_chunk_for(ucp_ep_h account, const ucd_ucx::TypedBuffer &buffer, std::size_t bytes,
                        bool urgent, ucd_ucx::Block *block);
    // Ends the transfers of peers that have exceeded their budgets.
    void bar_exceeding();
    // The endpoint of that stream has failed, or is barred.
    void end_stream(uint64_t stream, ucs_status_t status);
    void handle_endpoint_failures();

    const ucp_worker_h worker;
    const std::shared_ptr<ucd_ucx::Ledger> ledger; // outlives what is charged
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
    // For an active message that comes when there is no memory for it: nobody would miss it else,
    // and its sender would wait for ever. UCX's callbacks take it; progress makes another one.
    std::atomic<ucd_ucx::AmData *> spare = nullptr;
    ucd_ucx::DirectReceiver *direct = nullptr; // set before the first message
    bool in_ucx_progress = false;              // of workers of one thread
    ucp_datatype_t framed = 0;                 // see framed.h
    ucd_ucx::Hints for_host;                   // of which nothing more is known
    std::size_t max_user_header = 0;
    ucd_ucx::WorkerLock lock;

    ucd_ucx_am_callback_t handler = nullptr;
    void *handler_arg = nullptr;

    // A transfer waits for the endpoint for longer than its time limit.
    void report_unresponsive(ucp_ep_h ep) {
        if (params.unresponsive != nullptr && ep != nullptr) notifications.add_unresponsive(ep);
    }

private:
    const ucd_ucx::StagingLimits limits_;
    ucp_ep_h barring_ = nullptr; // that is being barred
    std::unordered_map<std::string, std::unique_ptr<ucd_ucx::DeviceChunks>> device_chunks_;

    bool call_users(std::unique_lock<ucd_ucx::WorkerLock> &held);

    uint64_t number_ = 0;
    std::unordered_map<ucp_ep_h, uint64_t> streams_; // of what is sent
    ucd_ucx::DeviceQueue moving_;
    void make_spare();
};
