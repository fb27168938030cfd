// The sender's side of transfers through chunks in device memory that the receiver opens. See
// docs/guide/gpu-ring.md.

#include "pipeline/sending.h"

#include "pipeline/route_offer.h"
#include "pipeline/send_chunk.h"

#include <algorithm>

namespace ucd_ucx {

// All blocks of a transfer have the same size, but no more than it needs: many short transfers that
// wait for their receivers must not exhaust the device's memory.
uint64_t Sending::ring_block_bytes() const {
    return std::min(options_.ring_chunk, buffer_.bytes());
}

bool Sending::charge_ring_block(Charge &charge) const {
    if (terms_.account == nullptr) return true;
    charge = transfers_.engine.ledger.take(
        terms_.account, DeviceChunks::bytes_of_shared(ring_block_bytes()), LedgerUse::chunk);
    return static_cast<bool>(charge);
}

// If device memory cannot be shared, chunks go through host memory.
void Sending::prepare_ring() {
    if (!options_.ring || buffer_.device().empty()) return;
    if (const char *memory = buffer_.device_in_place(); options_.ring_expose && memory != nullptr)
        exposed_ = ucd_ipc_export(memory, buffer_.bytes(), &offered_) == UCD_SUCCESS;
    if (!exposed_) {
        DeviceChunks &chunks = transfers_.engine.chunks_of(buffer_.device());
        Charge charge;
        if (chunks.is_shared() && charge_ring_block(charge))
            first_block_ = chunks.take_shared(ring_block_bytes(), true);
        if (!first_block_) return;
        first_block_.hold(std::move(charge));
        offered_ = chunks.handle_of(first_block_);
    }
    const uint64_t chunks = (buffer_.bytes() - 1) / options_.ring_chunk + 1;
    for (uint64_t i = std::min(chunks, options_.ring_depth); i > 0; --i)
        ring_chunks_.emplace_back(*this);
    // The host is offered first: where rendezvous is disabled, UCX completes that offer without the
    // receiver, and the ring is not used.
    for (const ChunkRoute route : {ChunkRoute::host, ChunkRoute::ring})
        routes_.emplace_back(*this, route);
    if (route_ != SendRoute::asking_directly) route_ = SendRoute::asking;
}

void RouteOffer::send(uint8_t offered) {
    MessageHeader &h = header_.header;
    h = owner_.frame_.header;
    h.kind = MessageKind::route;
    h.detail = static_cast<uint16_t>(offered << 8 | static_cast<unsigned>(route_));
    h.user_header = h.has_place() ? sizeof header_.place : 0;
    if (h.has_place()) header_.place = {owner_.offered_};
    ++owner_.under_way_;
    send_am(owner_.ep_, UCP_AM_SEND_FLAG_RNDV,
            {.header = &header_,
             .header_bytes = sizeof h + h.user_header,
             .data = &receipt_,
             .count = sizeof receipt_});
}

void Sending::ask() {
    if (!ask_directly()) ask_for_route();
}

void Sending::ask_for_route() {
    uint8_t offered = 0;
    for (const RouteOffer &route : routes_)
        offered = static_cast<uint8_t>(offered | bit_of(route.route()));
    for (RouteOffer &route : routes_) {
        if (route_ != SendRoute::asking || status_ != UCS_OK) return;
        route.send(offered);
    }
}

void Sending::on_answer(ChunkRoute route, ucs_status_t status) {
    if (status == UCS_OK && status_ == UCS_OK && route_ == SendRoute::asking) {
        route_ = route == ChunkRoute::host ? SendRoute::host : SendRoute::ring;
        if (route == ChunkRoute::host) { // all chunks are sent again from the beginning
            drop_packed();
            next_ = 0;
        }
        for (SendChunk &chunk : ring_chunks_)
            if (chunk.is_packed()) chunk.post_in_ring();
    }
    on_sent(status);
}

// Called before the first message is sent, because starting a kernel takes longer than sending a
// message.
bool Sending::start_packing() {
    if (route_ == SendRoute::asking && !exposed_) (void)advance_in_ring();
    return status_ == UCS_OK;
}

// Chunks are packed already while the receiver is being asked.
bool Sending::advance_in_ring() {
    const auto chunk = std::find_if(ring_chunks_.begin(), ring_chunks_.end(),
                                    [](const SendChunk &c) { return c.is_free(); });
    if (chunk == ring_chunks_.end()) return false;
    StagingBlock block = std::move(first_block_);
    if (!block && !exposed_) {
        const bool urgent = std::none_of(ring_chunks_.begin(), ring_chunks_.end(),
                                         [](const SendChunk &c) { return c.holds_memory(); });
        Charge charge;
        if (!charge_ring_block(charge)) return false;
        block =
            transfers_.engine.chunks_of(buffer_.device()).take_shared(ring_block_bytes(), urgent);
        if (!block) {
            if (urgent) stop(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
            return urgent;
        }
        block.hold(std::move(charge));
    }
    const uint64_t offset = next_;
    next_ += std::min(options_.ring_chunk, buffer_.bytes() - offset);
    ++under_way_;
    chunk->start_in_ring(std::move(block), offset, next_ - offset);
    return true;
}

void Sending::drop_packed() {
    first_block_ = StagingBlock();
    for (SendChunk &chunk : ring_chunks_) {
        if (!chunk.is_packed()) continue;
        chunk.drop();
        --under_way_;
    }
}

} // namespace ucd_ucx
