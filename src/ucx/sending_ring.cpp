// Chunks in device memory that the receiver opens, at the sender. See docs/gpu-ring.md.

#include "sending.h"

#include <algorithm>

namespace ucd_ucx {

// The same for all chunks of a transfer. Many short ones that wait for their receivers must not
// take the device's memory.
uint64_t Sending::ring_block_bytes() const {
    return std::min(options_.ring_chunk, operand_.bytes());
}

// Without device memory to share, chunks go through the host.
void Sending::prepare_ring(ucd_ucx_pipeline &pipeline) {
    if (!options_.ring || operand_.device().empty()) return;
    if (const char *memory = operand_.device_in_place(); options_.ring_expose && memory != nullptr)
        exposed_ = ucd_ipc_export(memory, operand_.bytes(), &buffer_) == UCD_SUCCESS;
    if (!exposed_) {
        DeviceChunks &chunks = pipeline.chunks_of(operand_.device());
        if (chunks.is_shared()) first_block_ = chunks.take_shared(ring_block_bytes(), true);
        if (!first_block_) return;
    }
    const uint64_t chunks = (operand_.bytes() - 1) / options_.ring_chunk + 1;
    for (uint64_t i = std::min(chunks, options_.ring_depth); i > 0; --i)
        ring_slots_.emplace_back(*this);
    refuse_ = std::make_unique<Ticket>(*this, Way::host);
    accept_ = std::make_unique<Ticket>(*this, Way::ring);
    way_ = Way::asking;
}

void Sending::Ticket::send(ucd_ucx_pipeline &pipeline, Kind kind, const RingPlace *place) {
    header_.header = owner_.frame_.header;
    header_.header.kind = kind;
    header_.header.user_header = place != nullptr ? sizeof *place : 0;
    if (place != nullptr) header_.place = *place;
    ++owner_.under_way_;
    send_am(pipeline, owner_.ep_,
            {.header = &header_,
             .header_bytes = sizeof header_.header + header_.header.user_header,
             .data = &receipt_,
             .count = sizeof receipt_,
             .flags = UCP_AM_SEND_FLAG_RNDV | UCP_AM_SEND_FLAG_REPLY});
}

// The refusal goes first: where rendezvous is off, UCX completes it without the receiver.
void Sending::ask(ucd_ucx_pipeline &pipeline) {
    if (way_ != Way::asking || status_ != UCS_OK) return;
    refuse_->send(pipeline, Kind::ring_refuse, nullptr);
    if (way_ != Way::asking || status_ != UCS_OK) return;
    const RingPlace first = {
        exposed_ ? buffer_ : pipeline.chunks_of(operand_.device()).handle_of(first_block_)};
    accept_->send(pipeline, Kind::ring_accept, &first);
}

void Sending::answered(ucd_ucx_pipeline &pipeline, Way way, ucs_status_t status) {
    if (status == UCS_OK && status_ == UCS_OK && way_ == Way::asking) {
        way_ = way;
        if (way == Way::host) { // from the start
            drop_packed();
            next_ = 0;
        }
        for (Slot &slot : ring_slots_)
            if (slot.is_packed()) slot.post_in_ring(pipeline);
    }
    sent(pipeline, status);
}

// While the receiver is being asked, chunks are packed.
bool Sending::advance_in_ring(ucd_ucx_pipeline &pipeline) {
    const auto slot = std::find_if(ring_slots_.begin(), ring_slots_.end(),
                                   [](const Slot &s) { return !s.busy(); });
    if (slot == ring_slots_.end()) return false;
    Block block = std::move(first_block_);
    if (!block && !exposed_) {
        const bool urgent = std::none_of(ring_slots_.begin(), ring_slots_.end(),
                                         [](const Slot &s) { return s.holds_memory(); });
        block = pipeline.chunks_of(operand_.device()).take_shared(ring_block_bytes(), urgent);
        if (!block) {
            if (urgent) stop(pipeline, UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
            return urgent;
        }
    }
    const uint64_t offset = next_;
    next_ += std::min(options_.ring_chunk, operand_.bytes() - offset);
    ++under_way_;
    slot->start_in_ring(pipeline, std::move(block), offset, next_ - offset);
    return true;
}

void Sending::Slot::start_in_ring(ucd_ucx_pipeline &pipeline, Block block, uint64_t offset,
                                  uint64_t bytes) {
    busy_ = true;
    block_ = std::move(block);
    bytes_ = bytes;
    header_ = owner_.frame_.header;
    header_.kind = Kind::ring_chunk;
    header_.offset = offset;
    header_.user_header = sizeof ring_header_.place;
    if (owner_.exposed_) {
        ring_header_.place = {owner_.buffer_, offset, bytes};
        packed_ = true;
        if (owner_.way_ == Way::ring) post_in_ring(pipeline);
        return;
    }
    ring_header_.place = {pipeline.chunks_of(owner_.operand_.device()).handle_of(block_), 0, bytes};
    pipeline.trace(UCD_UCX_EVENT__PACK_BEGIN, header_.id, offset, bytes);
    const Status status = owner_.operand_.pack_near(offset, block_.memory(), bytes, &moving);
    if (!status.ok())
        moved(pipeline, status);
    else
        pipeline.await(*this);
}

// The receipt waits here until the receiver has read the chunk.
void Sending::Slot::post_in_ring(ucd_ucx_pipeline &pipeline) {
    packed_ = false;
    pipeline.trace(UCD_UCX_EVENT__SHARE, header_.id, header_.offset, bytes_);
    pipeline.trace(UCD_UCX_EVENT__POST, header_.id, header_.offset, bytes_);
    ring_header_.header = header_;
    receipt_ = receipt_of(header_);
    send_am(pipeline, owner_.ep_,
            {.header = &ring_header_,
             .header_bytes = sizeof ring_header_,
             .data = &receipt_,
             .count = sizeof receipt_,
             .flags = UCP_AM_SEND_FLAG_RNDV | UCP_AM_SEND_FLAG_REPLY});
}

void Sending::Slot::drop() {
    packed_ = busy_ = false;
    block_ = Block();
}

void Sending::drop_packed() {
    first_block_ = Block();
    for (Slot &slot : ring_slots_) {
        if (!slot.is_packed()) continue;
        slot.drop();
        --under_way_;
    }
}

} // namespace ucd_ucx
