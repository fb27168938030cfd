#include "transfer/staged_pipeline.h"

#include "transfer/location.h"
#include "transfer/streaming_copy.h"

#include "element_runs.h"
#include "prepared/type_cache.h"
#include "types/create.h"
#include "types/predefined.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ucd {

namespace {

// Chunks stay on the device if one device does both halves of the work, else the host sees them
// too.
ChunkPool &pool_between(ChunkPools &pools, const Executor &from, const Executor &to) {
    if (from == to) return pools.pool(from, MemoryKind::device);
    return pools.pool(from.on_host() ? to : from, MemoryKind::pinned);
}

const Type &byte_type() {
    return predefined_type(predefined_with(Element::byte));
}

} // namespace

Status poll(std::vector<std::unique_ptr<Event>> &events) {
    for (std::size_t i = 0; i < events.size();) {
        bool completed = false;
        const Status status = events[i]->poll(completed);
        if (completed || !status.ok()) {
            std::swap(events[i], events.back());
            events.pop_back();
        } else {
            ++i;
        }
        UCD_TRY(status);
    }
    return success;
}

StagedPipeline::StagedPipeline(ChunkPools &pools, const Executor &from, const Executor &to, Op op,
                               const Limits &limits)
    : from_(from), to_(to), op_(op), pool_(pool_between(pools, from, to)),
      max_lanes_(pool_.max_chunks()), limits_(limits) {
    if (limits.max_blocks > 0) { // lanes share what the call may use
        max_lanes_ = std::min(max_lanes_, limits.max_blocks);
        limits_.max_blocks /= max_lanes_;
    }
    if (!pool_.reached_by(to)) relay_pool_ = &pools.pool(to, MemoryKind::pinned);
}

Status StagedPipeline::plan_side(const StagedSide &side, const Executor &executor, End &end) {
    end.base = side.base;
    end.count = side.count;
    if (side.type == nullptr) return success;
    return plan_of(*side.type, *executor.backend, executor.index, side.count > 1, end.plan);
}

// A packed destination of a reduction is a type like any other: as many blocks of bytes as there
// are types, so that the executor finds the elements where it would find them in the type.
Status StagedPipeline::plan_packed_reduction(const StagedMove &move, End &end) {
    TypeOwner &packed = packed_types_.emplace_back();
    UCD_TRY(create_contig(static_cast<int64_t>(move.element_type->size), byte_type(), packed));
    end.count = move.element_count;
    // A plan for several serves one, too.
    return plan_of(*packed, *to_.backend, to_.index, true, end.plan);
}

Status StagedPipeline::add(const StagedMove &move) {
    PlannedMove m{.from = {},
                  .to = {},
                  .offset = move.offset,
                  .length = move.length,
                  .elements = nullptr,
                  .element_count = move.element_count};
    UCD_TRY(plan_side(move.from, from_, m.from));
    UCD_TRY(plan_side(move.to, to_, m.to));
    if (op_ != Op::replace) {
        m.elements = &elements_of(*move.element_type);
        if (move.to.type == nullptr) UCD_TRY(plan_packed_reduction(move, m.to));
    }
    planned_.push_back(m);
    return success;
}

Status StagedPipeline::take_chunks(Chunk &chunk, Chunk &relay) {
    UCD_TRY(pool_.take(chunk));
    if (chunk == nullptr || relay_pool_ == nullptr) return success;
    UCD_TRY(relay_pool_->take(relay));
    // Both or none: two pipelines that hold one chunk each and wait for the other's would deadlock.
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
    while (!stopped_ && !all_loaded() && lanes_.size() < max_lanes_) {
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
    return (stopped_ || all_loaded()) && std::all_of(lanes_.begin(), lanes_.end(), at_rest);
}

Status StagedPipeline::step(Lane &lane) {
    // One load per call at most: a call does not stay for as long as there is work.
    for (bool loaded = false;;) {
        UCD_TRY(poll(lane.events));
        if (!lane.events.empty() || stopped_) return success;
        switch (lane.step) {
        case Lane::Step::idle:
            if (all_loaded()) {
                lane.chunk.reset();
                lane.relay.reset();
            }
            if (loaded || all_loaded()) return success;
            load(lane);
            loaded = true;
            lane.step = Lane::Step::filling;
            UCD_TRY(run(lane, from_, &PlannedMove::from, Direction::pack, Op::replace,
                        lane.chunk.get()));
            break;
        case Lane::Step::filling: {
            char *chunk = lane.chunk.get();
            if (lane.relay != nullptr) {
                const Part &last = lane.parts.back();
                std::memcpy(lane.relay.get(), chunk, last.at + last.length);
                chunk = lane.relay.get();
            }
            lane.step = Lane::Step::draining;
            UCD_TRY(run(lane, to_, &PlannedMove::to, Direction::unpack, op_, chunk));
            break;
        }
        case Lane::Step::draining: lane.step = Lane::Step::idle; break;
        }
    }
}

void StagedPipeline::load(Lane &lane) {
    constexpr std::size_t alignment = 64;
    const std::size_t size = pool_.chunk_bytes();
    lane.parts.clear();
    for (std::size_t used = 0; used < size && !all_loaded();) {
        const PlannedMove &m = planned_[next_];
        const uint64_t from = m.offset + loaded_, end = m.offset + m.length;
        uint64_t to = std::min<uint64_t>(end, from + (size - used));
        if (m.elements != nullptr && to < end)
            to = element_floor_within(*m.elements, m.element_count, to);
        if (to == from) break; // no element fits into what is left of the chunk
        lane.parts.push_back({&m, from, to - from, used});
        used = (used + (to - from) + alignment - 1) / alignment * alignment;
        loaded_ += to - from;
        if (to == end) {
            ++next_;
            loaded_ = 0;
        }
    }
}

// Lets an executor move the parts of a lane between one of their sides and the chunk.
Status StagedPipeline::run(Lane &lane, const Executor &executor, End PlannedMove::*side,
                           Direction direction, Op op, char *chunk) {
    const bool bytes = (lane.parts.front().move->*side).plan == nullptr;
    // First, so that whatever gets under way can be noted down.
    lane.events.reserve(lane.parts.size());
    std::unique_ptr<Event> done;
    if (bytes && (executor.on_host() || lane.parts.size() == 1)) {
        for (const Part &part : lane.parts) {
            char *outside = displaced((part.move->*side).base, part.offset);
            char *inside = chunk + part.at;
            const bool out = direction == Direction::unpack;
            if (out && executor.on_host() && part.move->length >= worth_streaming) {
                streaming_copy(outside, inside, part.length);
                started_ = true;
                continue;
            }
            UCD_TRY(executor.backend->copy(executor.device, out ? outside : inside,
                                           out ? inside : outside, part.length, done));
            note(lane, direction, done);
        }
        return success;
    }
    const MoveSettings settings{
        .direction = direction, .op = op, .packed_kind = pool_.kind(), .limits = limits_};
    launch_.clear();
    for (const Part &part : lane.parts) {
        const End &end = part.move->*side;
        const Transfer part_of_end{.count = end.count,
                                   .typed = end.base,
                                   .packed = chunk + part.at,
                                   .offset = part.offset,
                                   .length = part.length};
        Move &move = launch_.emplace_back();
        static_cast<MoveSettings &>(move) = settings;
        fill_move(end.plan, op == Op::replace ? nullptr : part.move->elements, part_of_end, move);
        if (bytes) { // many small pieces are one launch, not many copies
            move.typed = displaced(end.base, part.offset);
            move.count = part.length;
            move.offset = 0;
            UCD_TRY(
                plan_of(byte_type(), *executor.backend, executor.index, move.count > 1, move.plan));
        }
    }
    UCD_TRY(executor.backend->launch(executor.device, launch_, done));
    note(lane, direction, done);
    return success;
}

void StagedPipeline::note(Lane &lane, Direction direction, std::unique_ptr<Event> &done) {
    // A chunk that the host has filled can still be forgotten.
    started_ = started_ || direction == Direction::unpack || done != nullptr;
    if (done != nullptr) lane.events.push_back(std::move(done));
}

} // namespace ucd
