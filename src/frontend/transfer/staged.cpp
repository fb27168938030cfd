#include "transfer/staged.h"

#include "transfer/conversion.h"
#include "transfer/host.h"
#include "transfer/route.h"
#include "transfer/streamed_rows.h"

#include "element_runs.h"
#include "support/streaming_copy.h"
#include "types/create.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ucd {

namespace {

// The most chunks between a device and the host. More of them do not fit into the inner caches of a
// core, and 64 MiB took up to a tenth longer.
constexpr unsigned max_host_slots = 4;

// If one device does both halves of the work, chunks are in its memory; otherwise, and for
// conversions, the host must be able to access them, too.
ChunkPool &pool_between(ChunkPools &pools, const Executor &from, const Executor &to, Op op) {
    if (from == to && !is_conversion(op)) return pools.pool(from, MemoryKind::device);
    return pools.pool(from.on_host() ? to : from, MemoryKind::pinned);
}

} // namespace

// The packed side becomes a type with a block of bytes for each object of the move's type, so that
// the executor finds the same elements as in that.
Status give_packed_side_a_plan(CheckedMove &m, const Executor &executor, KeptTypes &types) {
    TypeOwner packed;
    UCD_TRY(create_contig(static_cast<int64_t>(m.type().size), byte_type(), packed));
    types.add(*packed);
    m.to =
        side_of(displaced(m.to.first(), uint64_t{0} - m.from.offset), m.from.count, m.from.offset);
    // A plan for several repetitions also serves one.
    return plan_of(*packed, *executor.backend, executor.index, true, m.to.plan);
}

void PartLoader::load(std::size_t chunk_bytes, std::vector<Part> &parts) {
    parts.clear();
    const auto aligned = [](std::size_t end) {
        return (end + part_alignment - 1) / part_alignment * part_alignment;
    };
    for (std::size_t from_at = 0, to_at = 0;
         from_at < chunk_bytes && to_at < chunk_bytes && !all_loaded();) {
        if (rest_.length == 0) rest_ = moves_[next_++];
        Part part{rest_, from_at, to_at, moves_[next_ - 1].length};
        const uint64_t from_room = std::min<uint64_t>(rest_.length, chunk_bytes - from_at),
                       to_room = std::min<uint64_t>(rest_.to_length, chunk_bytes - to_at);
        if (is_conversion(part.op)) {
            (void)match_elements(part, from_room, to_room);
        } else {
            uint64_t end = part.to.offset + from_room;
            if (part.op != Op::replace && from_room < part.length)
                end = element_floor_within(*part.elements, part.to.count, end);
            part.length = part.to_length = end - part.to.offset;
        }
        if (part.length == 0) break; // the rest is too short for an element
        parts.push_back(part);
        from_at = aligned(part.from_end());
        to_at = aligned(part.to_end());
        rest_.from.offset += part.length;
        rest_.to.offset += part.to_length;
        rest_.length -= part.length;
        rest_.to_length -= part.to_length;
    }
}

Status moves_of_parts(const std::vector<Part> &parts, Direction direction, const Move &like,
                      const Executor &executor, char *chunk, std::vector<Move> &moves) {
    moves.clear();
    const bool pack = direction == Direction::pack;
    for (const Part &part : parts) {
        Move &move = moves.emplace_back(like);
        Side &side = pack ? move.from : move.to;
        side = pack ? part.from : part.to;
        (pack ? move.to : move.from).address = chunk + (pack ? part.from_at : part.to_at);
        move.length = pack ? part.length : part.to_length;
        if (like.op != Op::replace) move.elements = part.elements;
        if (side.plan != nullptr) continue;
        // One launch for all pieces is better than a copy for each, since they may be many and
        // small.
        side = side_of(side.first(), move.length);
        UCD_TRY(plan_of(byte_type(), *executor.backend, executor.index, side.count > 1, side.plan));
    }
    return success;
}

StagedPipeline::StagedPipeline(Context &context, const Executor &from, const Executor &to,
                               std::span<const CheckedMove> moves)
    : from_(from), to_(to), plain_(plain_sides(moves.front())), op_(moves.front().op),
      pool_(pool_between(context.progress->pools(), from, to, op_)), max_slots_(pool_.max_chunks()),
      limits_(moves.front().limits), loader_(moves) {
    if (from.on_host() || to.on_host()) max_slots_ = std::min(max_slots_, max_host_slots);
    if (limits_.max_blocks > 0) { // slots divide the call's limit
        max_slots_ = std::min(max_slots_, limits_.max_blocks);
        limits_.max_blocks /= max_slots_;
    }
    if (!pool_.reached_by(to))
        relay_pool_ = &context.progress->pools().pool(to, MemoryKind::pinned);
}

Status StagedPipeline::take_chunks(Chunk &chunk, Chunk &relay) {
    UCD_TRY(pool_.take(chunk));
    if (chunk == nullptr || relay_pool_ == nullptr) return success;
    UCD_TRY(relay_pool_->take(relay));
    // Take both chunks or none: two pipelines that each hold one and wait for another would
    // deadlock.
    if (relay == nullptr) chunk.reset();
    return success;
}

Status StagedPipeline::reserve() {
    Slot slot;
    UCD_TRY(take_chunks(slot.chunk, slot.relay));
    if (slot.chunk != nullptr) slots_.push_back(std::move(slot));
    return success;
}

Status StagedPipeline::advance() {
    for (Slot &slot : slots_) UCD_TRY(step(slot));
    while (!stopped_ && !loader_.all_loaded() && slots_.size() < max_slots_) {
        Slot slot;
        UCD_TRY(take_chunks(slot.chunk, slot.relay));
        if (slot.chunk == nullptr) break;
        slots_.push_back(std::move(slot));
        UCD_TRY(step(slots_.back()));
    }
    return success;
}

bool StagedPipeline::completed() const {
    const auto at_rest = [this](const Slot &slot) {
        return slot.events.empty() && (stopped_ || slot.state == Slot::State::idle);
    };
    return (stopped_ || loader_.all_loaded()) && std::all_of(slots_.begin(), slots_.end(), at_rest);
}

Status StagedPipeline::step(Slot &slot) {
    // At most one load per call, so that a call does not last as long as there is work.
    for (bool loaded = false;;) {
        UCD_TRY(poll(slot.events));
        if (!slot.events.empty() || stopped_) return success;
        switch (slot.state) {
        case Slot::State::idle:
            if (loader_.all_loaded()) {
                slot.chunk.reset();
                slot.relay.reset();
            }
            if (loaded || loader_.all_loaded()) return success;
            loader_.load(room(), slot.parts);
            loaded = true;
            slot.state = Slot::State::filling;
            UCD_TRY(run(slot, from_, Direction::pack, Op::replace, slot.chunk.get()));
            break;
        case Slot::State::filling: {
            char *chunk = slot.chunk.get();
            Op op = op_;
            if (is_conversion(op_)) {
                UCD_TRY(convert(slot, chunk));
                op = Op::replace;
            } else if (slot.relay != nullptr) {
                std::memcpy(slot.relay.get(), chunk, slot.parts.back().from_end());
                chunk = slot.relay.get();
            }
            slot.state = Slot::State::draining;
            UCD_TRY(run(slot, to_, Direction::unpack, op, chunk));
            break;
        }
        case Slot::State::draining: slot.state = Slot::State::idle; break;
        }
    }
}

// Conversions use one half of a chunk for each side.
std::size_t StagedPipeline::room() const {
    return is_conversion(op_) ? pool_.chunk_bytes() / 2 : pool_.chunk_bytes();
}

// Converts the parts of a slot within its chunk, or on the way to the relay. Sets `chunk` to where
// the result is.
Status StagedPipeline::convert(Slot &slot, char *&chunk) {
    chunk = slot.relay != nullptr ? slot.relay.get() : slot.chunk.get() + room();
    PackedConversions conversions(op_, limits_);
    const auto add = [&](const MatchedRun &run, const char *from, char *to) -> Status {
        if (conversions.full()) conversions.run();
        conversions.add(run, from, to);
        return success;
    };
    UCD_TRY(for_each_conversion(slot.parts, slot.chunk.get(), chunk, add));
    conversions.run();
    return success;
}

// Moves parts that are plain bytes outside of the chunk.
Status StagedPipeline::copy_bytes(Slot &slot, const Executor &executor, Direction direction,
                                  char *chunk) {
    const bool out = direction == Direction::unpack;
    Owner<Event> done;
    for (const Part &part : slot.parts) {
        char *outside = (out ? part.to : part.from).first();
        char *inside = chunk + (out ? part.to_at : part.from_at);
        char *const to = out ? outside : inside, *const from = out ? inside : outside;
        const uint64_t bytes = out ? part.to_length : part.length;
        if (executor.on_host() && part.whole >= worth_streaming) {
            streaming_copy(to, from, bytes);
            started_ = started_ || out;
            continue;
        }
        UCD_TRY(executor.backend->copy(executor.device, to, from, bytes, done));
        note(slot, direction, done);
    }
    return success;
}

// Returns false if it did nothing. The host's backend sees parts only, which its caches hold.
bool StagedPipeline::unpack_long_rows(const Slot &slot, const char *chunk) {
    Box box;
    for (const Part &part : slot.parts)
        if (part.whole < worth_streaming || !has_long_rows(part, box)) return false;
    for (const Part &part : slot.parts) {
        (void)has_long_rows(part, box);
        unpack_streaming(part, box, chunk + part.to_at);
    }
    started_ = true;
    return true;
}

// Makes an executor move the parts of a slot between their source or destination and the chunk.
Status StagedPipeline::run(Slot &slot, const Executor &executor, Direction direction, Op op,
                           char *chunk) {
    const bool out = direction == Direction::unpack;
    const bool bytes = out ? plain_.to : plain_.from;
    // Reserve memory first, so that recording work that was started cannot fail.
    slot.events.reserve(slot.parts.size());
    if (bytes && (executor.on_host() || slot.parts.size() == 1))
        return copy_bytes(slot, executor, direction, chunk);
    // The host's backend shares the work among threads, if the caller permits several.
    const bool alone = executor.on_host() && limits_.threads == 1;
    if (out && alone && op_ == Op::replace && unpack_long_rows(slot, chunk)) return success;
    Move like;
    like.op = op;
    (out ? like.from_kind : like.to_kind) = pool_.kind();
    like.limits = limits_;
    UCD_TRY(moves_of_parts(slot.parts, direction, like, executor, chunk, launch_));
    Owner<Event> done;
    UCD_TRY(executor.backend->launch(executor.device, launch_, done));
    note(slot, direction, done);
    return success;
}

void StagedPipeline::note(Slot &slot, Direction direction, Owner<Event> &done) {
    // As long as only the host has filled a chunk, the work can still be abandoned.
    started_ = started_ || direction == Direction::unpack || done != nullptr;
    if (done != nullptr) slot.events.push_back(std::move(done));
}

} // namespace ucd
