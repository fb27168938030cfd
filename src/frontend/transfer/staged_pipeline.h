// Data on its way between memories that no one device reaches: it passes through chunks of memory
// that executors on both sides do reach, several at a time, so that kernels and copies overlap.
#pragma once

#include "transfer/chunk_pool.h"
#include "transfer/dispatch.h"

#include <memory>
#include <vector>

namespace ucd {

// One side of a staged move: where the bytes of a packed stream lie.
struct StagedSide {
    const Type *type = nullptr; // null: the stream itself, byte after byte
    uint64_t count = 0;
    char *base = nullptr; // the address of displacement 0, or of stream byte 0
};

// A range of a packed stream, from wherever it lies to wherever it goes.
struct StagedMove {
    StagedSide from, to;
    uint64_t offset, length;
    // For reductions: the type whose elements the stream is made of, and how many of it.
    const Type *element_type = nullptr;
    uint64_t element_count = 0;
};

// Lets go of events that have completed. After a failure the rest remains to be polled again.
Status poll(std::vector<std::unique_ptr<Event>> &events);

// The moves of one call between the same two executors. Small ones share chunks and launches.
class StagedPipeline {
public:
    StagedPipeline(ChunkPools &pools, const Executor &from, const Executor &to, Op op,
                   const Limits &limits);

    bool joins(const Executor &from, const Executor &to) const {
        return from_ == from && to_ == to;
    }

    // All of a pipeline's moves have bytes on the same sides. Types live as long as the pipeline.
    Status add(const StagedMove &move);

    // Gets the first chunks, or the certainty that there will be some. Starts nothing.
    Status reserve();

    // Carries on with whatever does not need to wait. After a failure: stop().
    Status advance();
    // No new steps; those under way come to their end.
    void stop() { stopped_ = true; }

    bool completed() const;
    bool started() const { return started_; }

private:
    // A side, planned for its executor.
    struct End {
        const KernelPlan *plan = nullptr; // null: bytes, which need none
        uint64_t count = 0;
        char *base = nullptr;
    };
    struct PlannedMove {
        End from, to;
        uint64_t offset, length;
        const Elements *elements; // null for REPLACE
        uint64_t element_count;
    };
    // Bytes of a move in a chunk.
    struct Part {
        const PlannedMove *move;
        uint64_t offset, length;
        std::size_t at;
    };
    // A chunk and how far its bytes have come.
    struct Lane {
        enum class Step : uint8_t { idle, filling, draining };
        Step step = Step::idle;
        Chunk chunk;
        Chunk relay; // where the destination's executor does not reach the source's chunk
        std::vector<Part> parts;
        std::vector<std::unique_ptr<Event>> events; // of the step under way
    };
    Status plan_side(const StagedSide &side, const Executor &executor, End &end);
    Status plan_packed_reduction(const StagedMove &move, End &end);
    Status take_chunks(Chunk &chunk, Chunk &relay);
    Status step(Lane &lane);
    void load(Lane &lane); // with the next bytes of the moves
    Status run(Lane &lane, const Executor &executor, End PlannedMove::*end, Direction direction,
               Op op, char *chunk);
    void note(Lane &lane, Direction direction, std::unique_ptr<Event> &done);
    bool all_loaded() const { return next_ == planned_.size(); }

    const Executor from_, to_;
    const Op op_;
    ChunkPool &pool_;
    unsigned max_lanes_;
    Limits limits_; // of the work of one lane
    ChunkPool *relay_pool_ = nullptr;
    std::vector<TypeOwner> packed_types_; // what is reduced into packed bytes; plans are theirs
    std::vector<PlannedMove> planned_;
    std::size_t next_ = 0; // the move that is being loaded into chunks
    uint64_t loaded_ = 0;  // how many of its bytes are
    std::vector<Lane> lanes_;
    std::vector<Move> launch_; // of the launch being made; kept for its memory
    bool started_ = false, stopped_ = false;
};

} // namespace ucd
