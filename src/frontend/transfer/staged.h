// Data on its way between memories that no one device reaches: it passes through chunks of memory
// that executors on both sides do reach, several at a time, so that kernels and copies overlap.
#pragma once

#include "transfer/check.h"
#include "transfer/chunk_pool.h"
#include "transfer/progress.h"

#include <memory>
#include <vector>

namespace ucd {

// A side without a plan is consecutive bytes, the first of which is at its address and offset.
struct StagedMove : CopyMove {
    const Elements *elements = nullptr; // of the packed stream; null for REPLACE
    uint64_t element_count = 0;         // repetitions of these
    uint64_t element_offset = 0;        // where in that stream the range begins
};

// What a route makes of a move or a copy, completed with plans. Both sides' types, and what is
// made for a reduction into packed bytes, are added to `types`.
Status complete(StagedMove &staged, const CheckedMove &m, const Executor &from, const Executor &to,
                KeptTypes &types);
Status complete(StagedMove &staged, const CheckedCopy &c, Op op, const Executor &from,
                const Executor &to, KeptTypes &types);

// Lets go of events that have completed. After a failure the rest remains to be polled again.
template <class Events>
Status poll(Events &events) {
    for (std::size_t i = 0; i < events.size();) {
        std::unique_ptr<Event> &event = events.begin()[i];
        bool completed = false;
        const Status status = event->poll(completed);
        if (completed || !status.ok()) {
            std::swap(event, events.back());
            events.pop_back();
        } else {
            ++i;
        }
        UCD_TRY(status);
    }
    return success;
}

// Bytes of a move in a chunk.
struct Part {
    const StagedMove *move;
    Slice slice;    // of the move's range
    std::size_t at; // in the chunk
};

// Divides moves into parts that fill chunks.
class PartLoader {
public:
    void add(const StagedMove &move) { moves_.push_back(move); }
    bool all_loaded() const { return next_ == moves_.size(); }
    // The next parts, for a chunk of so many bytes.
    void load(std::size_t chunk_bytes, std::vector<Part> &parts);

private:
    std::vector<StagedMove> moves_;
    std::size_t next_ = 0; // the move that is being loaded
    uint64_t loaded_ = 0;  // how many of its bytes are
};

// The moves that bring the parts from or to one of their sides and a chunk.
Status moves_of_parts(const std::vector<Part> &parts, CopyMove::Side CopyMove::*side,
                      const MoveSettings &settings, const Executor &executor, char *chunk,
                      std::vector<Move> &moves);

// Which sides of a staged move are bytes.
struct BytesOf {
    bool from, to;
    friend bool operator==(const BytesOf &, const BytesOf &) = default;
};
inline BytesOf bytes_of(const StagedMove &move) {
    return {move.from.plan == nullptr, move.to.plan == nullptr};
}

// The moves of one call between the same two executors, with bytes on the same sides. Small ones
// share chunks and launches.
class StagedPipeline {
public:
    StagedPipeline(ChunkPools &pools, const Executor &from, const Executor &to, BytesOf bytes,
                   Op op, const Limits &limits);

    bool takes(const Executor &from, const Executor &to, BytesOf bytes) const {
        return from_ == from && to_ == to && bytes_ == bytes;
    }

    // Types live as long as the pipeline.
    void add(const StagedMove &move) { loader_.add(move); }

    // Gets the first chunks, or the certainty that there will be some. Starts nothing.
    Status reserve();

    // Carries on with whatever does not need to wait. After a failure: stop().
    Status advance();
    // No new steps; those under way come to their end.
    void stop() { stopped_ = true; }

    bool completed() const;
    bool started() const { return started_; }

private:
    // A chunk and how far its bytes have come.
    struct Lane {
        enum class Step : uint8_t { idle, filling, draining };
        Step step = Step::idle;
        Chunk chunk;
        Chunk relay; // where the destination's executor does not reach the source's chunk
        std::vector<Part> parts;
        std::vector<std::unique_ptr<Event>> events; // of the step under way
    };
    Status take_chunks(Chunk &chunk, Chunk &relay);
    Status step(Lane &lane);
    Status run(Lane &lane, const Executor &executor, CopyMove::Side CopyMove::*side,
               Direction direction, Op op, char *chunk);
    void note(Lane &lane, Direction direction, std::unique_ptr<Event> &done);

    const Executor from_, to_;
    const BytesOf bytes_;
    const Op op_;
    ChunkPool &pool_;
    unsigned max_lanes_;
    Limits limits_; // of the work of one lane
    ChunkPool *relay_pool_ = nullptr;
    PartLoader loader_;
    std::vector<Lane> lanes_;
    std::vector<Move> launch_; // of the launch being made; kept for its memory
    bool started_ = false, stopped_ = false;
};

} // namespace ucd
