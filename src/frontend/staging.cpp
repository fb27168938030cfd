#include "staging.h"

#include "derived.h"
#include "element_runs.h"
#include "predefined.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ucd {

// Chunks --------------------------------------------------------------

void ReturnChunk::operator()(char *memory) const noexcept {
    const std::lock_guard lock(pool->mutex_);
    pool->free_.push_back(memory); // has the capacity for all
}

ChunkPool::ChunkPool(const Executor &owner, MemoryKind kind, StagingSizes sizes)
    : owner_(owner), kind_(kind), sizes_(sizes), most_(sizes.chunks) {
    free_.reserve(sizes.chunks);
}

ChunkPool::~ChunkPool() {
    for (char *memory : free_) owner_.backend->release(owner_.device, kind_, memory);
}

Status ChunkPool::take(Chunk &chunk) {
    {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            chunk = Chunk(free_.back(), {this});
            free_.pop_back();
            return success;
        }
        if (existing_ >= most_) return success;
        ++existing_;
    }
    // Slow, so others may use the pool meanwhile.
    void *memory = nullptr;
    const Status status =
        owner_.backend->allocate(owner_.device, kind_, sizes_.chunk_bytes, memory);
    if (status.ok()) {
        chunk = Chunk(static_cast<char *>(memory), {this});
        return success;
    }
    const std::lock_guard lock(mutex_);
    if (--existing_ == 0) return status;
    most_ = existing_;
    return success;
}

bool ChunkPool::reached_by(const Executor &executor) const {
    const Place place{kind_, owner_.device, owner_.backend};
    return executor.on_host() ? place.host_reachable()
                              : executor.backend->reaches(executor.device, place);
}

ChunkPool &Staging::pool(const Executor &owner, MemoryKind kind) {
    const std::lock_guard lock(mutex_);
    for (auto &pool : pools_)
        if (pool->serves(owner, kind)) return *pool;
    return *pools_.emplace_back(std::make_unique<ChunkPool>(owner, kind, sizes_));
}

namespace {

// Chunks stay on the device if one device does both halves of the work, else the host sees them
// too.
ChunkPool &pool_between(Staging &staging, const Executor &from, const Executor &to) {
    if (from == to) return staging.pool(from, MemoryKind::device);
    return staging.pool(from.on_host() ? to : from, MemoryKind::pinned);
}

// Lets go of what has completed. After a failure the rest remains to be polled again.
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

// The layout of consecutive bytes.
Layout packed_layout(uint64_t bytes) {
    Node block;
    block.bytes = bytes;
    block.high = static_cast<int64_t>(bytes);
    block.segments.count = 1;
    block.segments.first_bytes = block.segments.last_bytes = bytes;
    block.segments.last_end = static_cast<int64_t>(bytes);
    Layout layout;
    layout.nodes = {block};
    layout.depth = 1;
    return layout;
}

} // namespace

// Pipeline --------------------------------------------------------------

Pipeline::Pipeline(Staging &staging, const Executor &from, const Executor &to, Op op,
                   const Limits &limits)
    : from_(from), to_(to), op_(op), pool_(pool_between(staging, from, to)),
      most_lanes_(pool_.most_chunks()), limits_(limits) {
    if (limits.max_blocks > 0) { // lanes share what the call may use
        most_lanes_ = std::min(most_lanes_, limits.max_blocks);
        limits_.max_blocks /= most_lanes_;
    }
    if (!pool_.reached_by(to)) relay_pool_ = &staging.pool(to, MemoryKind::pinned);
}

Status Pipeline::plan_side(const StagedSide &side, const Executor &executor, End &end) {
    end.base = side.base;
    end.count = side.count;
    if (side.type == nullptr) return success;
    return plan_of(*side.type, *executor.backend, executor.index, side.count > 1, end.plan);
}

// A packed destination of a reduction is a layout like any other: as many blocks as there are
// types, so that the executor finds the elements where it would find them in the type.
Status Pipeline::plan_packed_reduction(const StagedMove &move, End &end) {
    auto packed = std::make_unique<PackedPlan>();
    const uint64_t size = move.element_type->size;
    packed->layout = packed_layout(size);
    UCD_TRY(to_.backend->plan(packed->layout, static_cast<int64_t>(size), move.element_count > 1,
                              UINT64_MAX, packed->plan));
    end.plan = packed->plan.get();
    end.count = move.element_count;
    packed_plans_.push_back(std::move(packed));
    return success;
}

Status Pipeline::add(const StagedMove &move) {
    Move m{.from = {},
           .to = {},
           .offset = move.offset,
           .length = move.length,
           .elements = nullptr,
           .element_count = move.element_count,
           .total = 0};
    UCD_TRY(plan_side(move.from, from_, m.from));
    UCD_TRY(plan_side(move.to, to_, m.to));
    if (op_ != Op::replace) {
        m.elements = &elements_of(*move.element_type);
        m.total = move.element_type->size * move.element_count;
        if (move.to.type == nullptr) UCD_TRY(plan_packed_reduction(move, m.to));
    }
    moves_.push_back(m);
    return success;
}

Status Pipeline::take_chunks(Chunk &chunk, Chunk &relay) {
    UCD_TRY(pool_.take(chunk));
    if (chunk == nullptr || relay_pool_ == nullptr) return success;
    UCD_TRY(relay_pool_->take(relay));
    // Both or none: whoever held one and waited for the other could wait for ever.
    if (relay == nullptr) chunk.reset();
    return success;
}

Status Pipeline::reserve() {
    Lane lane;
    UCD_TRY(take_chunks(lane.chunk, lane.relay));
    if (lane.chunk != nullptr) lanes_.push_back(std::move(lane));
    return success;
}

Status Pipeline::advance() {
    for (Lane &lane : lanes_) UCD_TRY(step(lane));
    while (!stopped_ && !all_loaded() && lanes_.size() < most_lanes_) {
        Lane lane;
        UCD_TRY(take_chunks(lane.chunk, lane.relay));
        if (lane.chunk == nullptr) break;
        lanes_.push_back(std::move(lane));
        UCD_TRY(step(lanes_.back()));
    }
    return success;
}

bool Pipeline::completed() const {
    const auto at_rest = [this](const Lane &lane) {
        return lane.events.empty() && (stopped_ || lane.step == Lane::Step::idle);
    };
    return (stopped_ || all_loaded()) && std::all_of(lanes_.begin(), lanes_.end(), at_rest);
}

Status Pipeline::step(Lane &lane) {
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
            UCD_TRY(run(lane, from_, &Move::from, Direction::pack, Op::replace, lane.chunk.get()));
            break;
        case Lane::Step::filling: {
            char *chunk = lane.chunk.get();
            if (lane.relay != nullptr) {
                const Part &last = lane.parts.back();
                std::memcpy(lane.relay.get(), chunk, last.at + last.length);
                chunk = lane.relay.get();
            }
            lane.step = Lane::Step::draining;
            UCD_TRY(run(lane, to_, &Move::to, Direction::unpack, op_, chunk));
            break;
        }
        case Lane::Step::draining: lane.step = Lane::Step::idle; break;
        }
    }
}

void Pipeline::load(Lane &lane) {
    constexpr std::size_t alignment = 64;
    const std::size_t size = pool_.chunk_bytes();
    lane.parts.clear();
    for (std::size_t used = 0; used < size && !all_loaded();) {
        const Move &m = moves_[next_];
        const uint64_t from = m.offset + loaded_, end = m.offset + m.length;
        uint64_t to = std::min<uint64_t>(end, from + (size - used));
        if (m.elements != nullptr && to < end)
            to = element_floor(*m.elements, m.element_count, m.total, to);
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
Status Pipeline::run(Lane &lane, const Executor &executor, End Move::*side, Direction direction,
                     Op op, char *chunk) {
    const bool bytes = (lane.parts.front().move->*side).plan == nullptr;
    // First, so that whatever gets under way can be noted down.
    lane.events.reserve(lane.parts.size());
    std::unique_ptr<Event> done;
    if (bytes && (executor.on_host() || lane.parts.size() == 1)) {
        for (const Part &part : lane.parts) {
            char *outside = displaced((part.move->*side).base, part.offset);
            char *inside = chunk + part.at;
            const bool out = direction == Direction::unpack;
            UCD_TRY(executor.backend->copy(executor.device, out ? outside : inside,
                                           out ? inside : outside, part.length, done));
            note(lane, direction, done);
        }
        return success;
    }
    jobs_.clear();
    for (const Part &part : lane.parts) {
        const End &end = part.move->*side;
        Job job{.plan = end.plan,
                .laid_out = end.base,
                .packed = chunk + part.at,
                .count = end.count,
                .offset = part.offset,
                .length = part.length,
                .direction = direction,
                .op = op,
                .elements = op == Op::replace ? nullptr : part.move->elements,
                .limits = limits_,
                .packed_kind = pool_.kind()};
        if (bytes) { // many small pieces are one launch, not many copies
            const Type &byte = predefined_type(predefined_with(Element::byte));
            job.laid_out = displaced(end.base, part.offset);
            job.count = part.length;
            job.offset = 0;
            UCD_TRY(plan_of(byte, *executor.backend, executor.index, job.count > 1, job.plan));
        }
        jobs_.push_back(job);
    }
    UCD_TRY(executor.backend->launch(executor.device, jobs_, done));
    note(lane, direction, done);
    return success;
}

void Pipeline::note(Lane &lane, Direction direction, std::unique_ptr<Event> &done) {
    // A chunk that the host has filled can still be forgotten.
    started_ = started_ || direction == Direction::unpack || done != nullptr;
    if (done != nullptr) lane.events.push_back(std::move(done));
}

// Movement --------------------------------------------------------------

Status Movement::launch(const Executor &executor, const JobList &jobs) {
    std::unique_ptr<Event> done;
    UCD_TRY(executor.backend->launch(executor.device, jobs, done));
    note(std::move(done));
    return success;
}

Status Movement::launch_copy(const Executor &executor, const CopyJob &job) {
    std::unique_ptr<Event> done;
    UCD_TRY(executor.backend->copy_layouts(executor.device, job, done));
    note(std::move(done));
    return success;
}

void Movement::note(std::unique_ptr<Event> done) {
    started_ = true;
    if (done != nullptr) launches_.push_back(std::move(done));
}

Pipeline &Movement::pipeline(Staging &staging, const Executor &from, const Executor &to, Op op,
                             const Limits &limits) {
    staged_ = true;
    for (auto &pipeline : pipelines_)
        if (pipeline->joins(from, to)) return *pipeline;
    return *pipelines_.emplace_back(std::make_unique<Pipeline>(staging, from, to, op, limits));
}

Status Movement::reserve_chunks() {
    for (auto &pipeline : pipelines_) UCD_TRY(pipeline->reserve());
    return success;
}

Status Movement::conclude(std::unique_ptr<Movement> work, bool started,
                          std::unique_ptr<Operation> &operation) {
    const bool completed = work->progress();
    if (work->failed() && !started && !work->started_) return work->outcome();
    if (!completed || work->failed()) operation = std::move(work);
    return success;
}

bool Movement::progress() noexcept {
    attempt([this] { return poll(launches_); });
    for (auto &pipeline : pipelines_) {
        attempt([&] { return pipeline->advance(); });
        started_ = started_ || pipeline->started();
    }
    if (failed())
        for (auto &pipeline : pipelines_) pipeline->stop();
    const bool completed = launches_.empty() &&
                           std::all_of(pipelines_.begin(), pipelines_.end(),
                                       [](const auto &pipeline) { return pipeline->completed(); });
    if (completed) {
        pipelines_.clear(); // before the types whose plans they use
        types_.clear();
        kept_.reset();
    }
    return completed;
}

} // namespace ucd
