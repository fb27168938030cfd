#include "pipeline/send_chunk.h"

#include "pipeline/sending.h"

#include <utility>

namespace ucd_ucx {

// bytes_of_transfer relies on this.
constexpr std::size_t bytes_of_chunk = 512 - 16;

SendChunk::SendChunk(Sending &owner)
    : TransferMessage(owner.transfers_.engine, owner, MessageKind::chunk), owner_(owner) {
    static_assert(sizeof *this <= bytes_of_chunk);
}

void SendChunk::start(StagingBlock block, uint64_t offset, uint64_t bytes) {
    const bool in_ring = owner_.route_ == TransferRoute::ring;
    state_ = ChunkState::packing;
    block_ = std::move(block);
    bytes_ = bytes;
    static_cast<MessageHeader &>(header) = owner_.opening_.header;
    header.kind = in_ring ? MessageKind::ring_chunk : MessageKind::chunk;
    header.offset = offset;
    header.user_header = 0;
    if (in_ring)
        set_following(
            block_ ? RingPlace{owner_.device_chunks().handle_of(block_), 0, bytes}
                   : RingPlace{owner_.exposed_->following<RingPlace>().handle, offset, bytes});
    if (!block_) return finish_packing();
    owner_.transfers_.trace(UCD_UCX_EVENT__PACK_BEGIN, header.id, offset, bytes);
    const Status status =
        owner_.buffer_.pack(offset, block_.memory(), bytes, &moving,
                            in_ring ? PackedPlace::own_device : PackedPlace::host);
    owner_.transfers_.engine.await(*this, status);
}

void SendChunk::moved(Status status) {
    owner_.transfers_.trace(UCD_UCX_EVENT__PACK_END, header.id, header.offset, bytes_);
    if (!status.ok()) owner_.stop(ucx_status_of(status.code()), status.code());
    finish_packing();
}

// A chunk of the ring waits until the receiver has answered the offer, and is of no use if the
// answer was another route.
void SendChunk::finish_packing() {
    const bool in_ring = header.kind == MessageKind::ring_chunk;
    if (owner_.status_ != UCS_OK || (in_ring && owner_.route_ != TransferRoute::ring)) {
        drop();
        return owner_.end_message(UCS_OK);
    }
    if (!in_ring || !owner_.holds_back()) return post();
    state_ = ChunkState::packed;
}

// By rendezvous, so that the data waits at the sender until the receiver has room for it, or has
// read it from the ring.
void SendChunk::post() {
    const bool in_ring = header.kind == MessageKind::ring_chunk;
    state_ = ChunkState::posted;
    if (in_ring) owner_.transfers_.trace(UCD_UCX_EVENT__SHARE, header.id, header.offset, bytes_);
    owner_.transfers_.trace(UCD_UCX_EVENT__POST, header.id, header.offset, bytes_);
    if (in_ring) return ask(owner_.ep_, receipt_of(header));
    SendArgs args = {.count = bytes_};
    if (owner_.route_ == TransferRoute::streamed) {
        range_ = {owner_.buffer_, header.offset, bytes_};
        args = {.data = &range_, .count = 1, .datatype = owner_.transfers_.framed->handle()};
    } else {
        args.data = block_ ? block_.memory() : owner_.buffer_.in_place() + header.offset;
    }
    send(owner_.ep_, args, UCP_AM_SEND_FLAG_RNDV);
}

void SendChunk::end() {
    owner_.transfers_.trace(UCD_UCX_EVENT__SENT, header.id, header.offset, bytes_);
    if (range_.failure != UCD_SUCCESS)
        owner_.stop(ucx_status_of(range_.failure), std::exchange(range_.failure, UCD_SUCCESS));
    drop();
}

void SendChunk::drop() {
    state_ = ChunkState::free;
    block_ = StagingBlock();
}

} // namespace ucd_ucx
