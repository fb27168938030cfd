#include "pipeline/send_chunk.h"

#include <utility>

namespace ucd_ucx {

// bytes_of_transfer relies on this.
constexpr std::size_t bytes_of_chunk = 512 - 16;

void SendChunk::start(StagingBlock block, uint64_t offset, uint64_t bytes) {
    static_assert(sizeof *this <= bytes_of_chunk);
    state_ = ChunkState::packing;
    block_ = std::move(block);
    bytes_ = bytes;
    header_ = owner_.frame_.header;
    header_.kind = MessageKind::chunk;
    header_.offset = offset;
    header_.user_header = 0;
    if (char *in_place = owner_.buffer_.in_place()) return post_packed(in_place + offset);
    if (owner_.is_streamed_) {
        range_ = {owner_.buffer_, offset, bytes};
        return post(
            {.data = &range_, .count = 1, .datatype = owner_.transfers_.stream_range.handle()});
    }
    owner_.transfers_.trace(UCD_UCX_EVENT__PACK_BEGIN, header_.id, offset, bytes);
    const Status status = owner_.buffer_.pack(offset, block_.memory(), bytes, &moving);
    if (!status.ok())
        moved(status);
    else
        owner_.transfers_.engine.await(*this);
}

void SendChunk::moved(Status status) {
    owner_.transfers_.trace(UCD_UCX_EVENT__PACK_END, header_.id, header_.offset, bytes_);
    if (!status.ok()) owner_.stop(ucx_status_of(status.code()), status.code());
    const bool in_ring = header_.kind == MessageKind::ring_chunk;
    if (owner_.status_ == UCS_OK && !in_ring) return post_packed(block_.memory());
    using enum Sending::SendRoute;
    if (owner_.status_ == UCS_OK && owner_.route_ == ring) return post_in_ring();
    if (owner_.status_ == UCS_OK && owner_.route_ == asking) {
        state_ = ChunkState::packed;
        return;
    }
    drop();
    owner_.on_sent(UCS_OK);
}

// Sent by rendezvous, so that the data waits at the sender until the receiver has room for it.
void SendChunk::post(const SendArgs &data) {
    state_ = ChunkState::posted;
    owner_.transfers_.trace(UCD_UCX_EVENT__POST, header_.id, header_.offset, bytes_);
    SendArgs args = data;
    args.header = &header_;
    args.header_bytes = sizeof header_;
    send_am(owner_.ep_, UCP_AM_SEND_FLAG_RNDV, args);
}

void SendChunk::post_packed(const void *bytes) {
    post({.data = bytes, .count = bytes_});
}

void SendChunk::on_complete() {
    owner_.transfers_.trace(UCD_UCX_EVENT__SENT, header_.id, header_.offset, bytes_);
    if (range_.failure != UCD_SUCCESS)
        owner_.stop(ucx_status_of(range_.failure), std::exchange(range_.failure, UCD_SUCCESS));
    receipt_ = 0; // invalidates the receipt before the memory is reused
    drop();
    owner_.on_sent(status_);
}

void SendChunk::start_in_ring(StagingBlock block, uint64_t offset, uint64_t bytes) {
    state_ = ChunkState::packing;
    block_ = std::move(block);
    bytes_ = bytes;
    header_ = owner_.frame_.header;
    header_.kind = MessageKind::ring_chunk;
    header_.offset = offset;
    header_.user_header = sizeof ring_header_.place;
    if (owner_.exposed_) {
        ring_header_.place = {owner_.offered_, offset, bytes};
        state_ = ChunkState::packed;
        if (owner_.route_ == Sending::SendRoute::ring) post_in_ring();
        return;
    }
    ring_header_.place = {
        owner_.transfers_.engine.chunks_of(owner_.buffer_.device()).handle_of(block_), 0, bytes};
    owner_.transfers_.trace(UCD_UCX_EVENT__PACK_BEGIN, header_.id, offset, bytes);
    const Status status =
        owner_.buffer_.pack(offset, block_.memory(), bytes, &moving, PackedPlace::own_device);
    if (!status.ok())
        moved(status);
    else
        owner_.transfers_.engine.await(*this);
}

// The receipt waits here until the receiver has read the chunk.
void SendChunk::post_in_ring() {
    state_ = ChunkState::posted;
    owner_.transfers_.trace(UCD_UCX_EVENT__SHARE, header_.id, header_.offset, bytes_);
    owner_.transfers_.trace(UCD_UCX_EVENT__POST, header_.id, header_.offset, bytes_);
    ring_header_.header = header_;
    receipt_ = receipt_of(header_);
    send_am(owner_.ep_, UCP_AM_SEND_FLAG_RNDV,
            {.header = &ring_header_,
             .header_bytes = sizeof ring_header_,
             .data = &receipt_,
             .count = sizeof receipt_});
}

void SendChunk::drop() {
    state_ = ChunkState::free;
    block_ = StagingBlock();
}

} // namespace ucd_ucx
