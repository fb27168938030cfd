// The sender's side of transfers through chunks in device memory that the receiver opens. See
// docs/internals/ucx-engine.md.

#include "pipeline/send_chunk.h"
#include "pipeline/sending.h"

#include <algorithm>

namespace ucd_ucx {

// All blocks of a transfer have the same size, but no more than it needs: many short transfers that
// wait for their receivers must not exhaust the device's memory.
uint64_t Sending::ring_block_bytes() const {
    return std::min(options_.ring_chunk, buffer_.bytes());
}

// Returns false if device memory cannot be shared.
bool Sending::prepare_ring() {
    if (!options_.ring) return false;
    const char *const memory = options_.ring_expose ? buffer_.device_in_place() : nullptr;
    ucd_ipc_handle_t handle;
    const bool exposes =
        memory != nullptr && ucd_ipc_export(memory, buffer_.bytes(), &handle) == UCD_SUCCESS;
    if (!exposes) {
        if (!device_chunks().is_shared() ||
            !transfers_.engine.take_chunk_for(terms_.account, buffer_, ring_block_bytes(), true,
                                              &first_block_, true) ||
            !first_block_)
            return false;
        handle = device_chunks().handle_of(first_block_);
    }
    // The host is offered first: where rendezvous is disabled, UCX completes that offer without the
    // receiver, and the ring is not used.
    const auto routes = {ChunkRoute::host, ChunkRoute::ring, ChunkRoute::ring_in_turns};
    uint16_t all = 0;
    for (const ChunkRoute route : routes) all |= bit_of(route);
    for (const ChunkRoute route : routes) {
        TransferMessage &offer = add_message(MessageKind::route);
        offer.header.detail = static_cast<uint16_t>(all << 8 | static_cast<unsigned>(route));
        if (route != ChunkRoute::ring) continue; // the receiver has the handle then
        offer.set_following(RingPlace{handle});
        if (exposes) exposed_ = &offer;
    }
    return true;
}

void Sending::offer_routes() {
    state_ = SendState::asking;
    for (TransferMessage &message : messages_) {
        if (state_ != SendState::asking) return;
        if (message.header.kind == MessageKind::route) use(message).ask(ep_, 0);
    }
}

void Sending::on_answer(ChunkRoute route, ucs_status_t status) {
    if (status != UCS_OK || state_ != SendState::asking) return;
    state_ = SendState::sending;
    if (route == ChunkRoute::host) { // all chunks are sent again from the beginning
        drop_packed();
        route_ = in_chunks_;
        next_ = 0;
        return;
    }
    takes_turns_ = route == ChunkRoute::ring_in_turns && !exposed_;
    if (takes_turns_) return lengthen_turn();
    for (SendChunk &chunk : chunks_)
        if (chunk.state() == ChunkState::packed) chunk.post();
}

// Processes on one device alternate in time slices, so they should do so once: all chunks of a
// user's transfer are one turn, as far as there is memory for the ring.
void Sending::lengthen_turn() {
    if (terms_.account != nullptr) return; // whose account has the chunks that there are
    const uint64_t chunks = (buffer_.bytes() - 1) / options_.ring_chunk + 1;
    options_.ring_depth = std::max(options_.ring_depth, std::min(chunks, max_depth));
    // performance only: without memory for more of them, there are more turns
    (void)without_exceptions([&] {
        while (chunks_.size() < options_.ring_depth) chunks_.emplace_back(*this);
        return success;
    });
}

// Nothing more can be packed at present: what is packed is sent.
void Sending::end_turn() {
    const auto is_packing = [](const SendChunk &c) { return c.state() == ChunkState::packing; };
    if (!takes_turns_ || std::any_of(chunks_.begin(), chunks_.end(), is_packing)) return;
    for (SendChunk &chunk : chunks_)
        if (chunk.state() == ChunkState::packed) chunk.post();
}

void Sending::drop_packed() {
    first_block_ = StagingBlock();
    for (SendChunk &chunk : chunks_) {
        if (chunk.state() != ChunkState::packed) continue;
        chunk.drop();
        --under_way_;
    }
}

} // namespace ucd_ucx
