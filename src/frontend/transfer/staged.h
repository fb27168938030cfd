// Moves data between memories that no single device can access, through several chunks of memory
// that the executors of both sides can access, so that kernels and copies overlap.
#pragma once

#include "transfer/check.h"
#include "transfer/chunk_pool.h"
#include "transfer/progress.h"

#include <memory>
#include <span>
#include <vector>

namespace ucd {

// Gives the packed side of a reduction into packed bytes a plan, by which `executor` unpacks when
// the reduction is done in stages. Adds the type that is made for it to `types`.
Status give_packed_side_a_plan(CheckedMove &m, const Executor &executor, KeptTypes &types);

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

// A part of a move, and where its bytes are in a chunk; for conversions, those of each side in a
// chunk of its own.
struct Part : CheckedMove {
    std::size_t from_at = 0, to_at = 0;
    uint64_t whole = 0; // bytes of the move
    std::size_t from_end() const { return from_at + length; }
    std::size_t to_end() const { return to_at + to_length; }
};

// Divides moves into parts that fill chunks.
class PartLoader {
public:
    // The moves outlive the loader.
    explicit PartLoader(std::span<const CheckedMove> moves) : moves_(moves) {}
    bool all_loaded() const { return next_ == moves_.size() && rest_.length == 0; }
    // Makes the parts for the next chunk of this size. For conversions: for the next two chunks,
    // one for each side.
    void load(std::size_t chunk_bytes, std::vector<Part> &parts);

private:
    const std::span<const CheckedMove> moves_;
    std::size_t next_ = 0;
    CheckedMove rest_; // of the move before the next
};

// Makes the moves of the parts from their source to a chunk, by packing, or from the chunk to their
// destination. They have the settings of `like`.
Status moves_of_parts(const std::vector<Part> &parts, Direction direction, const Move &like,
                      const Executor &executor, char *chunk, std::vector<Move> &moves);

// Which sides of a staged move are plain bytes.
struct PlainSides {
    bool from, to;
    friend bool operator==(const PlainSides &, const PlainSides &) = default;
};
inline PlainSides plain_sides(const Move &move) {
    return {move.from.plan == nullptr, move.to.plan == nullptr};
}

// The moves of one call between the same two executors, with plain bytes on the same sides. Small
// ones share chunks and launches.
class StagedPipeline {
public:
    // There is at least one move. The moves and their types outlive the pipeline.
    StagedPipeline(Context &context, const Executor &from, const Executor &to,
                   std::span<const CheckedMove> moves);

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
    struct Slot {
        enum class State : uint8_t { idle, filling, draining };
        State state = State::idle;
        Chunk chunk;
        Chunk relay; // used if the destination's executor cannot access the source's chunk
        std::vector<Part> parts;
        std::vector<Owner<Event>> events; // of the current step
    };
    Status take_chunks(Chunk &chunk, Chunk &relay);
    Status step(Slot &slot);
    Status run(Slot &slot, const Executor &executor, Direction direction, Op op, char *chunk);
    Status copy_bytes(Slot &slot, const Executor &executor, Direction direction, char *chunk);
    bool unpack_long_rows(const Slot &slot, const char *chunk);
    Status convert(Slot &slot, char *&chunk);
    std::size_t room() const;
    void note(Slot &slot, Direction direction, Owner<Event> &done);

    const Executor from_, to_;
    const PlainSides plain_;
    const Op op_;
    ChunkPool &pool_;
    unsigned max_slots_;
    Limits limits_; // for the work of one slot
    ChunkPool *relay_pool_ = nullptr;
    PartLoader loader_;
    std::vector<Slot> slots_;
    std::vector<Move> launch_; // of the current launch; a member, to reuse its memory
    bool started_ = false, stopped_ = false;
};

} // namespace ucd
