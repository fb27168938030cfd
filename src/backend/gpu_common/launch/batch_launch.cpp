#include "launch/launch.h"

#include "in_threads.h"
#include "kernels/batch_kernels.h"
#include "launch/batch_table_builder.h"
#include "launch/launch_context.h"

#include <algorithm>
#include <array>
#include <memory>

namespace ucd::UCD_GPU {
namespace {

// Whether the table of this many members fits in kernel parameters if they share a few shapes.
bool is_small_batch(std::size_t members) {
    return BatchTableBuilder::bytes_of_members(members) <= SmallBatchParams::max_bytes;
}

// A batch whose table goes to device memory. The table of a single launch is written directly to
// the memory that it is uploaded from.
class LargeBatch {
public:
    Status begin(LaunchTarget &to, std::size_t members) {
        constexpr std::size_t starts = 9 * sizeof(uint32_t), few_shapes = std::size_t{1} << 14;
        const std::size_t bytes =
            BatchTableBuilder::bytes_of_members(members) + members * starts + few_shapes;
        if (to.is_single()) {
            UCD_TRY(to.device().tables().take(to.device(), bytes, use_));
            builder_.begin(members, {use_.pinned(), use_.capacity()});
        } else {
            own_ = std::make_unique_for_overwrite<char[]>(bytes);
            builder_.begin(members, {own_.get(), bytes});
        }
        return success;
    }
    BatchTableBuilder &builder() { return builder_; }

    // `move` is any of the batch. It decides for all whether host memory is involved, because few
    // batches mix kinds of memory.
    Status launch(LaunchTarget &to, const Move &move) {
        // performance only: a kernel's search may begin anywhere; tables that are read repeatedly
        // have more starts
        builder_.finish(to.is_single() ? Starts::few : Starts::many);
        return launch_table(to, builder_, batch_kernel(move.direction()),
                            max_blocks(to.device(), move), std::move(use_));
    }

private:
    BatchUse use_;
    std::unique_ptr<char[]> own_; // instead of use_, if the table is read repeatedly
    BatchTableBuilder builder_;
};

Status add_all(BatchTableBuilder &builder, LaunchTarget &to, std::span<const Move> moves) {
    for (const Move &move : moves) {
        const MoveAddresses at{move.from.address, move.to.address};
        UCD_TRY(builder.add(to, move, {&at, 1}));
    }
    return success;
}

// Launches moves that fit in one launch. If they are few and share shapes, the table is a kernel
// parameter.
Status launch_batch(LaunchTarget &to, std::span<const Move> moves) {
    const Move &move = moves.front();
    if (is_small_batch(moves.size())) {
        BatchTableBuilder builder;
        SmallBatchParams params;
        builder.begin(moves.size(), params.table);
        UCD_TRY(add_all(builder, to, moves));
        builder.finish(Starts::many);
        const uint32_t blocks = max_blocks(to.device(), move);
        if (builder.bytes() <= SmallBatchParams::max_bytes) {
            params.sections = builder.sections();
            builder.write(params.table);
            return to.launch(small_batch_kernel(move.direction()), params.sections.tiles, blocks,
                             params);
        }
        return launch_table(to, builder, batch_kernel(move.direction()), blocks);
    }
    LargeBatch batch;
    UCD_TRY(batch.begin(to, moves.size()));
    UCD_TRY(add_all(batch.builder(), to, moves));
    return batch.launch(to, move);
}

// Writes the table while the moves are made. `fits` stays false if they do not fit in one table and
// must be made as a list. `move` is the last move.
Status write_as_made(LaunchTarget &to, MoveMaker &maker, BatchTableBuilder &builder, Move &move,
                     bool &fits) {
    std::array<MoveAddresses, 64> at; // small enough to stay in the cache
    for (std::size_t first = 0, made = 1; made > 0;) {
        UCD_TRY(maker.make(first, move, at.data(), at.size(), made));
        if (move.length >= max_positions) return success;
        UCD_TRY(builder.add(to, move, std::span(at).first(made)));
        if (builder.vectors() > max_batch_vectors) return success;
    }
    fits = true;
    return success;
}

// The members that one thread makes; each part is a launch of its own.
struct MadePart {
    LargeBatch batch;
    Move move;
    bool fits = false;
    Status status;
    LastError error; // the message, if `status` is a failure
    LaunchNeeds needs;

    void write(const LaunchTarget &to, MoveMaker &maker) {
        LaunchTarget own(to.device(), to.stream(), to.state(), needs);
        status = write_as_made(own, maker, batch.builder(), move, fits);
        if (!status.ok()) error = last_error();
    }
};

} // namespace

Status launch_batches(LaunchTarget &to, std::span<const Move> moves) {
    while (!moves.empty()) {
        std::size_t members = 0;
        for (uint64_t vectors = 0; members < std::min(moves.size(), max_batch_members); ++members) {
            vectors += batch_vectors_of(moves[members]);
            if (vectors > max_batch_vectors) break;
        }
        UCD_TRY(launch_batch(to, moves.first(members)));
        moves = moves.subspan(members);
    }
    return success;
}

Status launch_as_made(LaunchTarget &to, MoveMaker &maker, bool &launched) {
    const std::size_t members = maker.members();
    if (!to.is_single() || is_small_batch(members) || members > max_batch_members) return success;
    unsigned threads;
    UCD_TRY(maker.divide(threads));
    std::vector<MadePart> parts(threads);
    const auto maker_of = [&](unsigned i) { return threads == 1 ? &maker : maker.part(i); };
    for (unsigned i = 0; i < threads; ++i)
        UCD_TRY(parts[i].batch.begin(to, maker_of(i)->members()));
    in_threads(threads, [&](unsigned i) { parts[i].write(to, *maker_of(i)); });
    if (threads > 1) UCD_TRY(maker.unite());
    std::size_t made = 0;
    for (MadePart &part : parts) {
        if (!part.status.ok()) last_error() = part.error;
        UCD_TRY(part.status);
        if (!part.fits) return success;
        made += part.batch.builder().members();
    }
    if (made < 2) return success;
    launched = true;
    for (MadePart &part : parts) to.needs().add(std::move(part.needs));
    for (MadePart &part : parts)
        if (part.batch.builder().members() > 0) UCD_TRY(part.batch.launch(to, part.move));
    return success;
}

Status prepare_batches() {
    for (const Direction d : {Direction::pack, Direction::unpack})
        UCD_TRY(load_kernels({batch_kernel(d), small_batch_kernel(d)}));
    return success;
}

} // namespace ucd::UCD_GPU
