#include "transfer/staged.h"

#include "transfer/conversion.h"
#include "transfer/host.h"
#include "transfer/route.h"

#include "element_runs.h"
#include "support/streaming_copy.h"
#include "types/create.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ucd {

namespace {

// If one device does both halves of the work, chunks are in its memory; otherwise, and for
// conversions, the host must be able to access them, too.
ChunkPool &pool_between(ChunkPools &pools, const Executor &from, const Executor &to, Op op) {
    if (from == to && !is_conversion(op)) return pools.pool(from, MemoryKind::device);
    return pools.pool(from.on_host() ? to : from, MemoryKind::pinned);
}

} // namespace

// The packed side becomes a type with a block of bytes for each object of the move's type, so that
// the executor finds the same elements as in that.
Status complete_packed(CheckedMove &m, const Executor &executor, KeptTypes &types) {
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
                               BytesOf bytes, Op op, const Limits &limits)
    : context_(context), from_(from), to_(to), bytes_(bytes), op_(op),
      pool_(pool_between(context.progress->pools(), from, to, op)), max_lanes_(pool_.max_chunks()),
      limits_(limits) {
    if (limits.max_blocks > 0) { // lanes divide the call's limit
        max_lanes_ = std::min(max_lanes_, limits.max_blocks);
        limits_.max_blocks /= max_lanes_;
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
    Lane lane;
    UCD_TRY(take_chunks(lane.chunk, lane.relay));
    if (lane.chunk != nullptr) lanes_.push_back(std::move(lane));
    return success;
}

Status StagedPipeline::advance() {
    for (Lane &lane : lanes_) UCD_TRY(step(lane));
    while (!stopped_ && !loader_.all_loaded() && lanes_.size() < max_lanes_) {
        Lane lane;
        UCD_TRY(take_chunks(lane.chunk, lane.relay));
        if (lane.chunk == nullptr) break;
        lanes_.push_back(std::move(lane));
        UCD_TRY(step(lanes_.back()));
    }
    return success;
}

bool StagedPipeline::completed() const {
    const auto at_rest = [this](const Lane &lane) {
        return lane.events.empty() && (stopped_ || lane.step == Lane::Step::idle);
    };
    return (stopped_ || loader_.all_loaded()) && std::all_of(lanes_.begin(), lanes_.end(), at_rest);
}

Status StagedPipeline::step(Lane &lane) {
    // At most one load per call, so that a call does not last as long as there is work.
    for (bool loaded = false;;) {
        UCD_TRY(poll(lane.events));
        if (!lane.events.empty() || stopped_) return success;
        switch (lane.step) {
        case Lane::Step::idle:
            if (loader_.all_loaded()) {
                lane.chunk.reset();
                lane.relay.reset();
            }
            if (loaded || loader_.all_loaded()) return success;
            loader_.load(room(), lane.parts);
            loaded = true;
            lane.step = Lane::Step::filling;
            UCD_TRY(run(lane, from_, Direction::pack, Op::replace, lane.chunk.get()));
            break;
        case Lane::Step::filling: {
            char *chunk = lane.chunk.get();
            Op op = op_;
            if (is_conversion(op_)) {
                UCD_TRY(convert(lane, chunk));
                op = Op::replace;
            } else if (lane.relay != nullptr) {
                std::memcpy(lane.relay.get(), chunk, lane.parts.back().from_end());
                chunk = lane.relay.get();
            }
            lane.step = Lane::Step::draining;
            UCD_TRY(run(lane, to_, Direction::unpack, op, chunk));
            break;
        }
        case Lane::Step::draining: lane.step = Lane::Step::idle; break;
        }
    }
}

// Conversions use one half of a chunk for each side.
std::size_t StagedPipeline::room() const {
    return is_conversion(op_) ? pool_.chunk_bytes() / 2 : pool_.chunk_bytes();
}

// Converts the parts of a lane within its chunk, or on the way to the relay. Sets `chunk` to where
// the result is.
Status StagedPipeline::convert(Lane &lane, char *&chunk) {
    chunk = lane.relay != nullptr ? lane.relay.get() : lane.chunk.get() + room();
    PackedConversions conversions(op_, limits_);
    const auto add = [&](const MatchedRun &run, const char *from, char *to) -> Status {
        if (conversions.full()) UCD_TRY(conversions.run_on_host(context_));
        conversions.add(run, from, to);
        return success;
    };
    UCD_TRY(for_each_conversion(lane.parts, lane.chunk.get(), chunk, add));
    return conversions.run_on_host(context_);
}

// Makes an executor move the parts of a lane between their source or destination and the chunk.
Status StagedPipeline::run(Lane &lane, const Executor &executor, Direction direction, Op op,
                           char *chunk) {
    const bool out = direction == Direction::unpack;
    const bool bytes = out ? bytes_.to : bytes_.from;
    // Reserve memory first, so that recording work that was started cannot fail.
    lane.events.reserve(lane.parts.size());
    Owner<Event> done;
    if (bytes && (executor.on_host() || lane.parts.size() == 1)) {
        for (const Part &part : lane.parts) {
            char *outside = (out ? part.to : part.from).first();
            char *inside = chunk + (out ? part.to_at : part.from_at);
            const uint64_t bytes_here = out ? part.to_length : part.length;
            if (out && executor.on_host() && part.whole >= worth_streaming) {
                streaming_copy(outside, inside, bytes_here);
                started_ = true;
                continue;
            }
            UCD_TRY(executor.backend->copy(executor.device, out ? outside : inside,
                                           out ? inside : outside, bytes_here, done));
            note(lane, direction, done);
        }
        return success;
    }
    Move like;
    like.op = op;
    (out ? like.from_kind : like.to_kind) = pool_.kind();
    like.limits = limits_;
    UCD_TRY(moves_of_parts(lane.parts, direction, like, executor, chunk, launch_));
    UCD_TRY(executor.backend->launch(executor.device, launch_, done));
    note(lane, direction, done);
    return success;
}

void StagedPipeline::note(Lane &lane, Direction direction, Owner<Event> &done) {
    // As long as only the host has filled a chunk, the work can still be abandoned.
    started_ = started_ || direction == Direction::unpack || done != nullptr;
    if (done != nullptr) lane.events.push_back(std::move(done));
}

} // namespace ucd
