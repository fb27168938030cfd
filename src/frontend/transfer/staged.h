// Moves data between memories that no single device can access, through several chunks of memory
// that the executors of both sides can access, so that kernels and copies overlap.
#pragma once

#include "transfer/check.h"
#include "transfer/chunk_pool.h"
#include "transfer/progress.h"

#include <memory>
#include <vector>

namespace ucd {

struct StagedMove : CopyMove {
    const Elements *elements = nullptr; // of the packed stream of `to`; null for REPLACE
    // For conversions: the elements of the packed stream of `from`, and the bytes of that of `to`.
    const Elements *from_elements = nullptr;
    uint64_t to_length = 0;
};

// Makes a staged move from a move or a copy, completed with plans. Adds the types of both sides,
// and any type that is made for a reduction into packed bytes, to `types`.
Status complete(StagedMove &staged, const CheckedMove &m, const Executor &from, const Executor &to,
                KeptTypes &types);
Status complete(StagedMove &staged, const CheckedCopy &c, Op op, const Executor &from,
                const Executor &to, KeptTypes &types);

// Removes events that have completed. After a failure, the others can be polled again.
template <class Events>
Status poll(Events &events) {
    for (std::size_t i = 0; i < events.size();) {
        Owner<Event> &event = events.begin()[i];
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

// A slice of a move's range, and where it is in a chunk.
struct PlacedSlice {
    Slice slice;
    std::size_t at;
    std::size_t end() const { return at + slice.length; }
};

// A part of a move in a chunk. The two slices differ only in conversions, for which chunks have a
// place for each.
struct Part {
    const StagedMove *move;
    PlacedSlice from, to;
};

// Divides moves into parts that fill chunks.
class PartLoader {
public:
    void add(const StagedMove &move) { moves_.push_back(move); }
    bool all_loaded() const { return next_ == moves_.size(); }
    // Makes the parts for the next chunk of this size. For conversions: for the next two chunks,
    // one for each side.
    void load(std::size_t chunk_bytes, std::vector<Part> &parts);

private:
    Part next_part(const PlacedSlice &from_room, const PlacedSlice &to_room);
    std::vector<StagedMove> moves_;
    std::size_t next_ = 0;                // the move that is being divided
    uint64_t loaded_ = 0, to_loaded_ = 0; // how many of its bytes are in parts, on each side
};

// Makes the moves of the parts between their source or destination and a chunk.
Status moves_of_parts(const std::vector<Part> &parts, CopyMove::Side CopyMove::*side,
                      const MoveSettings &settings, const Executor &executor, char *chunk,
                      std::vector<Move> &moves);

// Which sides of a staged move are plain bytes.
struct BytesOf {
    bool from, to;
    friend bool operator==(const BytesOf &, const BytesOf &) = default;
};
inline BytesOf bytes_of(const StagedMove &move) {
    return {move.from.plan == nullptr, move.to.plan == nullptr};
}

// The moves of one call between the same two executors, with plain bytes on the same sides. Small
// ones share chunks and launches.
class StagedPipeline {
public:
    StagedPipeline(Context &context, const Executor &from, const Executor &to, BytesOf bytes, Op op,
                   const Limits &limits);

    bool takes(const Executor &from, const Executor &to, BytesOf bytes) const {
        return from_ == from && to_ == to && bytes_ == bytes;
    }

    // The types of the move outlive the pipeline.
    void add(const StagedMove &move) { loader_.add(move); }

    // Takes the first chunks, or makes sure that chunks will become free. Starts nothing.
    Status reserve();

    // Does everything that need not wait. After a failure, call stop().
    Status advance();
    // Begins no new steps. Steps in progress end normally.
    void stop() { stopped_ = true; }

    bool completed() const;
    bool started() const { return started_; }

private:
    // A chunk, and the state of its data.
    struct Lane {
        enum class Step : uint8_t { idle, filling, draining };
        Step step = Step::idle;
        Chunk chunk;
        Chunk relay; // used if the destination's executor cannot access the source's chunk
        std::vector<Part> parts;
        std::vector<Owner<Event>> events; // of the current step
    };
    Status take_chunks(Chunk &chunk, Chunk &relay);
    Status step(Lane &lane);
    Status run(Lane &lane, const Executor &executor, CopyMove::Side CopyMove::*side,
               Direction direction, Op op, char *chunk);
    Status convert(Lane &lane, char *&chunk);
    std::size_t room() const;
    void note(Lane &lane, Direction direction, Owner<Event> &done);

    Context &context_;
    const Executor from_, to_;
    const BytesOf bytes_;
    const Op op_;
    ChunkPool &pool_;
    unsigned max_lanes_;
    Limits limits_; // for the work of one lane
    ChunkPool *relay_pool_ = nullptr;
    PartLoader loader_;
    std::vector<Lane> lanes_;
    std::vector<Move> launch_; // of the current launch; a member, to reuse its memory
    bool started_ = false, stopped_ = false;
};

} // namespace ucd
