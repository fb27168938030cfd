#include "transfer/staged.h"

#include "transfer/conversion.h"
#include "transfer/host.h"
#include "transfer/route.h"

#include "element_runs.h"
#include "support/streaming_copy.h"
#include "types/create.h"
#include "types/predefined.h"

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

const Type &byte_type() {
    return predefined_type(predefined_with(Element::byte));
}

// Completes the packed side of a reduction into packed bytes. It becomes a type with a block of
// bytes for each object of the move's type, so that the executor finds the same elements as in
// that.
Status complete_packed(CopyMove::Side &side, const CheckedMove &m, const Executor &to,
                       KeptTypes &types) {
    TypeOwner packed;
    UCD_TRY(create_contig(static_cast<int64_t>(m.type->size), byte_type(), packed));
    types.add(*packed);
    side = {
        .typed = displaced(m.packed, uint64_t{0} - m.offset), .count = m.count, .offset = m.offset};
    // A plan for several repetitions also serves one.
    return plan_of(*packed, *to.backend, to.index, true, side.plan);
}

} // namespace

Status complete(StagedMove &staged, const CheckedMove &m, const Executor &from, const Executor &to,
                KeptTypes &types) {
    const bool pack = m.direction == Direction::pack;
    CopyMove::Side &typed = pack ? staged.from : staged.to,
                   &packed = pack ? staged.to : staged.from;
    types.add(*m.type);
    staged.length = m.length;
    typed = {.typed = m.typed, .count = m.count, .offset = m.offset};
    UCD_TRY(complete(typed, *m.type, pack ? from : to));
    packed.typed = m.packed;
    if (m.op == Op::replace) return success;
    staged.elements = &elements_of(*m.type);
    return pack ? complete_packed(packed, m, to, types) : success;
}

Status complete(StagedMove &staged, const CheckedCopy &c, Op op, const Executor &from,
                const Executor &to, KeptTypes &types) {
    types.add(*c.from_type);
    types.add(*c.to_type);
    static_cast<CopyMove &>(staged) = c;
    UCD_TRY(complete(staged.from, *c.from_type, from));
    UCD_TRY(complete(staged.to, *c.to_type, to));
    if (op != Op::replace) staged.elements = &elements_of(*c.to_type);
    if (is_conversion(op)) staged.from_elements = &elements_of(*c.from_type);
    staged.to_length = c.to_length;
    return success;
}

Part PartLoader::next_part(const PlacedSlice &from_room, const PlacedSlice &to_room) {
    const StagedMove &m = moves_[next_];
    Part part{&m, {{loaded_, 0}, from_room.at}, {{to_loaded_, 0}, to_room.at}};
    uint64_t &from = part.from.slice.length, &to = part.to.slice.length;
    if (is_conversion(m.op)) {
        CopyMove::Side from_here = m.from, to_here = m.to;
        from_here.offset += loaded_;
        to_here.offset += to_loaded_;
        MatchedRuns runs(from_here, *m.from_elements, m.length - loaded_, to_here, *m.elements,
                         m.to_length - to_loaded_);
        for (MatchedRun run;
             runs.next(from_room.slice.length - from, to_room.slice.length - to, run);) {
            from += run.from_bytes();
            to += run.to_bytes();
        }
        return part;
    }
    uint64_t end = std::min<uint64_t>(m.length, loaded_ + from_room.slice.length);
    if (m.elements != nullptr && end < m.length)
        end = element_floor_within(*m.elements, m.to.count, m.to.offset + end) - m.to.offset;
    from = to = end - loaded_;
    return part;
}

void PartLoader::load(std::size_t chunk_bytes, std::vector<Part> &parts) {
    parts.clear();
    // What is left of the chunk.
    PlacedSlice from{{0, chunk_bytes}, 0}, to = from;
    const auto use = [chunk_bytes](PlacedSlice &left, const PlacedSlice &used) {
        left.at = (used.end() + part_alignment - 1) / part_alignment * part_alignment;
        left.slice.length = chunk_bytes - std::min(chunk_bytes, left.at);
    };
    while (from.slice.length > 0 && to.slice.length > 0 && !all_loaded()) {
        const Part part = next_part(from, to);
        if (part.from.slice.length == 0) break; // the rest is too short for an element
        parts.push_back(part);
        use(from, part.from);
        use(to, part.to);
        loaded_ += part.from.slice.length;
        to_loaded_ += part.to.slice.length;
        if (loaded_ == part.move->length) {
            ++next_;
            loaded_ = to_loaded_ = 0;
        }
    }
}

Status moves_of_parts(const std::vector<Part> &parts, CopyMove::Side CopyMove::*side,
                      const MoveSettings &settings, const Executor &executor, char *chunk,
                      std::vector<Move> &moves) {
    moves.clear();
    for (const Part &part : parts) {
        const CopyMove::Side &end = part.move->*side;
        const PlacedSlice &range = side == &CopyMove::from ? part.from : part.to;
        Move &move = moves.emplace_back();
        move.set(settings);
        move.plan = end.plan;
        move.typed = end.typed;
        move.packed = chunk + range.at;
        move.count = end.count;
        move.offset = end.offset + range.slice.offset;
        move.length = range.slice.length;
        if (settings.op != Op::replace) move.elements = part.move->elements;
        if (end.plan != nullptr) continue;
        // One launch for all pieces is better than a copy for each, since they may be many and
        // small.
        move.typed = displaced(end.typed, move.offset);
        move.count = move.length;
        move.offset = 0;
        UCD_TRY(plan_of(byte_type(), *executor.backend, executor.index, move.count > 1, move.plan));
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
            UCD_TRY(
                run(lane, from_, &CopyMove::from, Direction::pack, Op::replace, lane.chunk.get()));
            break;
        case Lane::Step::filling: {
            char *chunk = lane.chunk.get();
            Op op = op_;
            if (is_conversion(op_)) {
                UCD_TRY(convert(lane, chunk));
                op = Op::replace;
            } else if (lane.relay != nullptr) {
                std::memcpy(lane.relay.get(), chunk, lane.parts.back().from.end());
                chunk = lane.relay.get();
            }
            lane.step = Lane::Step::draining;
            UCD_TRY(run(lane, to_, &CopyMove::to, Direction::unpack, op, chunk));
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
Status StagedPipeline::run(Lane &lane, const Executor &executor, CopyMove::Side CopyMove::*side,
                           Direction direction, Op op, char *chunk) {
    const bool bytes = direction == Direction::pack ? bytes_.from : bytes_.to;
    // Reserve memory first, so that recording work that was started cannot fail.
    lane.events.reserve(lane.parts.size());
    Owner<Event> done;
    if (bytes && (executor.on_host() || lane.parts.size() == 1)) {
        for (const Part &part : lane.parts) {
            const bool out = direction == Direction::unpack;
            const CopyMove::Side &end = part.move->*side;
            const PlacedSlice &range = out ? part.to : part.from;
            char *outside = displaced(end.typed, end.offset + range.slice.offset);
            char *inside = chunk + range.at;
            if (out && executor.on_host() && part.move->length >= worth_streaming) {
                streaming_copy(outside, inside, range.slice.length);
                started_ = true;
                continue;
            }
            UCD_TRY(executor.backend->copy(executor.device, out ? outside : inside,
                                           out ? inside : outside, range.slice.length, done));
            note(lane, direction, done);
        }
        return success;
    }
    const MoveSettings settings{
        .direction = direction, .op = op, .packed_kind = pool_.kind(), .limits = limits_};
    UCD_TRY(moves_of_parts(lane.parts, side, settings, executor, chunk, launch_));
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
