// A pipeline: the transfers of one worker.
#pragma once

#include "device_chunks.h"
#include "event.h"
#include "mappings.h"
#include "message.h"
#include "operand.h"
#include "options.h"
#include "queue.h"
#include "request.h"
#include "staging.h"
#include "worker_lock.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace ucd_ucx {

class Arrival;
class Incoming;
class Operand;
class Receiving;
class Sending;

// A chunk that libucd moves, for as long as a device takes for it.
class Chunk {
public:
    virtual void moved(ucd_ucx_pipeline &pipeline, Status status) = 0;
    ucd_request_t moving = UCD_REQUEST__NULL;

protected:
    ~Chunk() = default;
};

struct HashOfId {
    std::size_t operator()(const MessageId &id) const {
        return static_cast<std::size_t>(id.sender * 0x9e3779b97f4a7c15u + id.number);
    }
};

} // namespace ucd_ucx

// The lock is held in every function but those that say otherwise.
struct ucd_ucx_pipeline {
    ucd_ucx_pipeline(ucp_worker_h worker_of_user, const ucd_ucx_pipeline_params_t &params,
                     const ucd_ucx::TransferOptions &options, uint64_t staging_limit,
                     uint64_t ring_limit);
    ~ucd_ucx_pipeline();
    ucd_ucx::Status open();

    unsigned progress(); // without the lock

    ucd_ucx::MessageId next_id() { return {sender_, ++number_}; }
    void trace(int what, const ucd_ucx::MessageId &id, uint64_t offset, uint64_t bytes) const {
        if (params.trace == nullptr) return;
        const ucd_ucx_event_t event = {what, id.sender, id.number, offset, bytes};
        params.trace(&event, params.trace_arg);
    }

    // Calls chunk.moved as soon as the device is done; or now, if libucd says that it is.
    void await(ucd_ucx::Chunk &chunk);

    // Memory for a chunk on the host, as fits the data: see Staging::take.
    ucd_ucx::Block take_chunk(const ucd_ucx::Operand &operand, std::size_t bytes, bool urgent);
    ucd_ucx::DeviceChunks &chunks_of(const std::string &device);

    // Transfers that have begun and not ended.
    void add(ucd_ucx::Sending &sending);
    void add(ucd_ucx::Receiving &receiving);
    void remove(ucd_ucx::Receiving &receiving); // it has not started after all
    // Inline, so that the result is not copied by way of memory.
    void finish(ucd_ucx_request &request, const ucd_ucx_result_t &result) {
        request.complete(result);
        if (!request.handed_out) return;
        finished_.push(request);
        --outstanding;
    }

    // The message of that name, made if it is not known yet.
    ucd_ucx::Incoming &incoming(const ucd_ucx::MessageId &id);
    ucd_ucx::Incoming *find_incoming(const ucd_ucx::MessageId &id);
    void forget(ucd_ucx::Incoming &message);
    // The user's handler will be told of it.
    void deliver(ucd_ucx::Incoming &message);

    // Without the lock: may be called where UCX calls back.
    void lose(ucp_ep_h ep, ucs_status_t status);
    // Whatever came to use an endpoint before it was lost has a smaller number.
    uint64_t now() { return clock_; }
    void handle_losses();
    // The status with which an endpoint was lost after that time, or UCS_OK: whatever came from it
    // by then must not be answered.
    ucs_status_t loss_since(ucp_ep_h ep, uint64_t time) const;

    const ucp_worker_h worker;
    const ucd_ucx_pipeline_params_t params;
    const ucd_ucx::TransferOptions options;
    ucd_ucx::Inbox inbox;
    ucd_ucx::Staging staging;
    ucd_ucx::Mappings mappings;
    ucp_datatype_t framed = 0; // see framed.h
    ucd_ucx::Hints for_host;   // of which nothing more is known
    std::size_t most_user_header = 0;
    ucd_ucx::WorkerLock lock;

    ucd_ucx_am_callback_t handler = nullptr;
    void *handler_arg = nullptr;
    std::size_t outstanding = 0; // transfers

private:
    const uint64_t staging_limit_, ring_limit_;
    std::unordered_map<std::string, std::unique_ptr<ucd_ucx::DeviceChunks>> device_chunks_;

    struct Loss {
        ucp_ep_h ep;
        ucs_status_t status;
        uint64_t before;
    };

    bool handle_events();
    bool poll_devices();
    bool advance();
    bool call_users(std::unique_lock<ucd_ucx::WorkerLock> &held);

    uint64_t sender_ = 0, number_ = 0;
    std::vector<ucd_ucx::Sending *> sendings_;
    std::vector<ucd_ucx::Receiving *> receivings_;
    std::unordered_map<ucd_ucx::MessageId, std::unique_ptr<ucd_ucx::Incoming>, ucd_ucx::HashOfId>
        incoming_;
    std::vector<ucd_ucx::Chunk *> moving_;
    ucd_ucx::Queue<ucd_ucx_request> finished_;
    ucd_ucx::Queue<ucd_ucx::Incoming> deliveries_;
    // Forgotten; deleted when nobody is at work on them.
    std::vector<std::unique_ptr<ucd_ucx::Incoming>> forgotten_;

    std::mutex losses_lock_; // nothing else is locked under it
    std::vector<Loss> losses_;
    std::unordered_map<ucp_ep_h, Loss> last_losses_;
    std::atomic<uint64_t> clock_ = 0; // counts losses
    uint64_t losses_handled_ = 0;
};
