// One slot of a sender's window: a chunk that is packed and then sent.
#pragma once

#include "engine/device_queue.h"
#include "memory/staging.h"
#include "pipeline/framed.h"
#include "pipeline/transfer_message.h"

namespace ucd_ucx {

class Sending;

enum class ChunkState : uint8_t {
    free,
    packing,
    packed, // for the ring: the receiver has not answered yet, or more is packed first
    posted, // sent, not yet completed by UCX
};

class SendChunk final : public DeviceWork, public TransferMessage {
public:
    explicit SendChunk(Sending &owner);
    void moved(Status status) override;

    // Packs the bytes into `block`, if that is not empty, and sends them.
    void start(StagingBlock block, uint64_t offset, uint64_t bytes);
    // Sends a packed chunk of the ring: the receiver has chosen the ring.
    void post();
    void drop(); // for a packed chunk
    void end();  // UCX has sent it

    ChunkState state() const { return state_; }
    bool holds_memory() const { return static_cast<bool>(block_); }

private:
    void finish_packing();

    Sending &owner_;
    ChunkState state_ = ChunkState::free;
    uint64_t bytes_ = 0;
    StagingBlock block_;
    FramedRange range_; // if UCX packs the chunk
};

} // namespace ucd_ucx
