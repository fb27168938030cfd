// Data on its way between memories that no one device reaches: it passes through chunks of memory
// that executors on both sides do reach, several at a time, so that kernels and copies overlap.
#pragma once

#include "job.h"
#include "request.h"
#include "route.h"

#include <memory>
#include <mutex>
#include <vector>

namespace ucd {

struct StagingSizes {
    std::size_t chunk_bytes = std::size_t{1} << 20; // at least 64: a chunk holds any element
    unsigned chunks = 8;                            // the most per pool
};

class ChunkPool;

struct ReturnChunk {
    ChunkPool *pool = nullptr;
    void operator()(char *memory) const noexcept;
};
using Chunk = std::unique_ptr<char, ReturnChunk>;

// Chunks of one kind of memory of one device; allocated at first need, and kept.
class ChunkPool {
public:
    ChunkPool(const Executor &owner, MemoryKind kind, StagingSizes sizes);
    ~ChunkPool(); // all chunks are back

    // Null without a failure: none is free now, but others are in use and will come back.
    Status take(Chunk &chunk);

    // Whether an executor reaches the chunks.
    bool reached_by(const Executor &executor) const;

    bool serves(const Executor &owner, MemoryKind kind) const {
        return owner_ == owner && kind_ == kind;
    }
    MemoryKind kind() const { return kind_; }
    std::size_t chunk_bytes() const { return sizes_.chunk_bytes; }
    unsigned most_chunks() const { return sizes_.chunks; }

private:
    friend struct ReturnChunk;
    const Executor owner_;
    const MemoryKind kind_;
    const StagingSizes sizes_;
    std::mutex mutex_;
    std::vector<char *> free_;
    unsigned existing_ = 0, most_; // `most_` shrinks to what memory there is
};

// All pools of a context.
class Staging {
public:
    explicit Staging(StagingSizes sizes) : sizes_(sizes) {}
    ChunkPool &pool(const Executor &owner, MemoryKind kind);

private:
    const StagingSizes sizes_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<ChunkPool>> pools_;
};

// One side of a staged move: where the bytes of a packed stream lie.
struct StagedSide {
    const Type *type = nullptr; // null: the stream itself, byte after byte
    uint64_t count = 0;
    char *base = nullptr; // the address of displacement 0, or of stream byte 0
};

// A range of a packed stream, from wherever it lies to wherever it goes.
struct StagedMove {
    StagedSide from, to;
    uint64_t offset = 0, length = 0;
    // For reductions: the type whose elements the stream is made of, and how many of it.
    const Type *element_type = nullptr;
    uint64_t element_count = 0;
};

// The moves of one call between the same two executors. Small ones share chunks and launches.
class Pipeline {
public:
    Pipeline(Staging &staging, const Executor &from, const Executor &to, Op op,
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
        const Plan *plan = nullptr; // null: bytes, which need none
        uint64_t count = 0;
        char *base = nullptr;
    };
    struct Move {
        End from, to;
        uint64_t offset, length;
        const Elements *elements; // null for REPLACE
        uint64_t element_count, total;
    };
    // Bytes of a move in a chunk.
    struct Part {
        const Move *move;
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
    // A plan for reducing into packed bytes.
    struct PackedPlan {
        Layout layout;
        std::unique_ptr<Plan> plan;
    };

    Status plan_side(const StagedSide &side, const Executor &executor, End &end);
    Status plan_packed_reduction(const StagedMove &move, End &end);
    Status take_chunks(Chunk &chunk, Chunk &relay);
    Status step(Lane &lane);
    void load(Lane &lane); // with the next bytes of the moves
    Status run(Lane &lane, const Executor &executor, End Move::*end, Direction direction, Op op,
               char *chunk);
    void note(Lane &lane, Direction direction, std::unique_ptr<Event> &done);
    bool all_loaded() const { return next_ == moves_.size(); }

    const Executor from_, to_;
    const Op op_;
    ChunkPool &pool_;
    unsigned most_lanes_;
    Limits limits_; // of the work of one lane
    ChunkPool *relay_pool_ = nullptr;
    std::vector<std::unique_ptr<PackedPlan>> packed_plans_; // plans refer to their layouts
    std::vector<Move> moves_;
    std::size_t next_ = 0; // the move that is being loaded into chunks
    uint64_t loaded_ = 0;  // how many of its bytes are
    std::vector<Lane> lanes_;
    std::vector<Job> jobs_; // of the launch being made; kept for its memory
    bool started_ = false, stopped_ = false;
};

// What a call has started and not finished.
class Movement final : public Operation {
public:
    bool progress() noexcept override;
    bool staged() const noexcept override { return staged_; }

    // The type lives until the work is done.
    void keep(const Type &type) { types_.add(type); }
    // Whatever it is.
    void keep(std::shared_ptr<const void> what) { kept_ = std::move(what); }
    // Makes room, so that what has been started can always be noted down.
    void expect_launches(std::size_t count) { launches_.reserve(count); }
    Status launch(const Executor &executor, const JobList &jobs);
    Status launch_copy(const Executor &executor, const CopyJob &job);
    // The pipeline between two executors; made if there is none yet.
    Pipeline &pipeline(Staging &staging, const Executor &from, const Executor &to, Op op,
                       const Limits &limits);
    Status reserve_chunks();

    // The end of the call that started the work, which moves it forward once. `operation` stays
    // null if it is complete. A failure is the call's if it came before anything was `started`,
    // here or by the caller; else it is reported when everything has come to its end.
    static Status conclude(std::unique_ptr<Movement> work, bool started,
                           std::unique_ptr<Operation> &operation);

private:
    void note(std::unique_ptr<Event> done);

    KeptTypes types_;
    std::shared_ptr<const void> kept_;
    std::vector<std::unique_ptr<Event>> launches_;
    std::vector<std::unique_ptr<Pipeline>> pipelines_;
    bool staged_ = false;
    bool started_ = false; // something has been set in motion
};

} // namespace ucd
