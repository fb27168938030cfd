// One slot of a sender's window: a chunk that is packed and then sent.
#pragma once

#include "pipeline/sending.h"
#include "pipeline/stream_range.h"

namespace ucd_ucx {

class SendChunk final : public DeviceWork, public SendOp {
public:
    explicit SendChunk(Sending &owner) : SendOp(owner.transfers_.engine), owner_(owner) {}
    void on_complete() override;
    void moved(Status status) override;

    // Packs the bytes into `block`, if that is not empty, and sends them.
    void start(StagingBlock block, uint64_t offset, uint64_t bytes);
    // Same for the ring, but the packed chunk waits until the receiver has answered the offer.
    void start_in_ring(StagingBlock block, uint64_t offset, uint64_t bytes);
    void post_in_ring();
    void drop(); // for a packed chunk

    bool is_free() const { return state_ == ChunkState::free; }
    bool is_packed() const { return state_ == ChunkState::packed; }
    bool holds_memory() const { return static_cast<bool>(block_); }

private:
    enum class ChunkState : uint8_t {
        free,
        packing,
        packed, // for the ring: the receiver has not answered yet
        posted, // sent, not yet completed by UCX
    };
    void post(const SendArgs &data);
    void post_packed(const void *bytes);

    Sending &owner_;
    ChunkState state_ = ChunkState::free;
    MessageHeader header_;
    RingHeader ring_header_; // the header of a ring_chunk, instead of header_
    Receipt receipt_ = 0;
    uint64_t bytes_ = 0;
    StagingBlock block_;
    StreamRange range_; // if UCX packs the chunk
};

} // namespace ucd_ucx
