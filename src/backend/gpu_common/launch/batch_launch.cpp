#include "launch/batch_launch.h"

#include "in_threads.h"
#include "kernels/batch_kernels.h"
#include "launch/batch_table_builder.h"
#include "launch/box_copy.h"
#include "launch/copy_launch.h"
#include "launch/launch.h"
#include "launch/launch_context.h"
#include "launch/reduce_table_builder.h"
#include "plan/move_range.h"
#include "runtime/check.h"
#include "runtime/driver.h"

#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <mutex>

namespace ucd::UCD_GPU {
namespace {

// `move` is one of the batch, and decides for all whether host memory is involved: few batches mix
// memories.
Status launch_table(const Submission &to, const Move &move, BatchUse use) {
    BatchParams params{use->sections(), 0, reinterpret_cast<uintptr_t>(use->memory())};
    const void *kernel = use->kernel();
    if (to.mode == LaunchMode::capture)
        UCD_TRY(driver::keep_with_graph(to.stream,
                                        std::make_shared<BatchUse>(BatchUse(std::move(use)))));
    else
        to.needs.batches.push_back(std::move(use));
    return launch_kernel(to, kernel, params.sections.tiles, max_blocks(to.device, move), params);
}

// Uploads what was built, and launches the kernel that reads it.
Status launch_built(const Submission &to, const Move &move, const TableBuilder &builder,
                    const void *kernel, uint64_t identity, BatchUse use) {
    // Room for its entry in the needs comes first: after the upload has started, nothing may fail.
    to.needs.batches.reserve(to.needs.batches.size() + 1);
    UCD_TRY(BatchStore::instance().upload(to.device, to.stream, to.mode, builder, kernel, identity,
                                          use));
    return launch_table(to, move, std::move(use));
}

// Takes the lists of a table into use, and says whether all are still where they were when the
// table was made.
Status use_lists(const Submission &to, const BatchTable &table, bool &in_place) {
    in_place = true;
    for (const ListsAt &lists : table.lists()) {
        uint64_t address = 0;
        UCD_TRY(to.use(*lists.lists, address));
        in_place = in_place && address == lists.address;
    }
    return success;
}

bool all_prepared(const Submission &to, std::span<const Move> moves) {
    return std::all_of(moves.begin(), moves.end(), [&](const Move &move) {
        return static_cast<const GpuPlan *>(move.plan)->is_prepared(to.device.index(), move.op);
    });
}

// The table of the list, if there is one.
Status find_table(const Submission &to, const MoveList &list, BatchUse &use) {
    if (list.identity == 0) return success;
    use = BatchStore::instance().find(to.device, list.identity);
    if (!use) return success;
    bool in_place = false;
    UCD_TRY(use_lists(to, *use.operator->(), in_place));
    if (in_place) return success;
    BatchStore::instance().forget(use);
    use = {};
    return success;
}

// A builder with the memory that one before it has grown to: what is fresh from the system costs
// more than what is written there.
class PooledBuilder {
public:
    PooledBuilder() : builder_(Pool::instance().take()) {}
    ~PooledBuilder() { Pool::instance().give_back(std::move(builder_)); }
    PooledBuilder(const PooledBuilder &) = delete;
    PooledBuilder &operator=(const PooledBuilder &) = delete;
    BatchTableBuilder *operator->() const { return builder_.get(); }
    BatchTableBuilder &operator*() const { return *builder_; }

private:
    class Pool {
    public:
        // Never destroyed.
        static Pool &instance() {
            static Pool *pool = new Pool;
            return *pool;
        }
        std::unique_ptr<BatchTableBuilder> take() {
            {
                const std::lock_guard lock(mutex_);
                if (!free_.empty()) {
                    auto builder = std::move(free_.back());
                    free_.pop_back();
                    return builder;
                }
            }
            return std::make_unique<BatchTableBuilder>();
        }
        void give_back(std::unique_ptr<BatchTableBuilder> builder) {
            const std::lock_guard lock(mutex_);
            if (free_.size() < free_.capacity()) free_.push_back(std::move(builder));
        }

    private:
        static constexpr std::size_t max_kept = 4;
        Pool() { free_.reserve(max_kept); }
        std::mutex mutex_;
        std::vector<std::unique_ptr<BatchTableBuilder>> free_;
    };

    std::unique_ptr<BatchTableBuilder> builder_;
};

// A batch whose table goes to device memory, written where it is uploaded from.
class LargeBatch {
public:
    Status begin(const Submission &to, std::size_t members, uint64_t identity) {
        constexpr std::size_t starts = 9 * sizeof(uint32_t), few_shapes = std::size_t{1} << 14;
        const std::size_t bytes =
            BatchTableBuilder::bytes_of_members(members) + members * starts + few_shapes;
        identity_ = identity;
        UCD_TRY(BatchStore::instance().take(to.device, bytes, identity, use_));
        builder_->begin(members, {use_.pinned(), use_.capacity()});
        return success;
    }
    BatchTableBuilder &builder() const { return *builder_; }

    // `move` is one of the batch.
    Status launch(const Submission &to, const Move &move) {
        // performance only: it chooses how fine the table is; graphs are replayed
        const bool once = identity_ == 0 && to.mode == LaunchMode::now;
        builder_->finish(once ? TableUse::once : TableUse::again);
        BatchUse use = std::move(use_), too_small; // which is copied from
        if (builder_->bytes() > use.capacity()) {
            too_small = std::move(use);
            UCD_TRY(BatchStore::instance().take(to.device, builder_->bytes(), identity_, use));
        }
        return launch_built(to, move, *builder_, batch_kernel(move.direction), identity_,
                            std::move(use));
    }

private:
    uint64_t identity_ = 0;
    BatchUse use_;
    PooledBuilder builder_;
};

// Whether a table of so many members travels with the launch, if they share a few shapes.
bool may_be_small(std::size_t members) {
    return BatchTableBuilder::bytes_of_members(members) <= SmallBatchParams::max_bytes;
}

Status add_all(BatchTableBuilder &builder, const Submission &to, std::span<const Move> moves) {
    for (const Move &move : moves) {
        const MoveAddresses at{move.typed, move.packed};
        UCD_TRY(builder.add(to, move, {&at, 1}));
    }
    return success;
}

// Moves of one direction that fit one launch.
Status launch_batch(const Submission &to, const MoveList &list) {
    const std::span<const Move> moves = list.moves;
    const Move &move = moves.front();
    if (to.mode == LaunchMode::capture && !all_prepared(to, moves)) return not_prepared();
    BatchUse use;
    // Building a table that fits the parameters is faster than looking for an old one.
    if (may_be_small(moves.size())) {
        BatchTableBuilder builder;
        SmallBatchParams params;
        builder.begin(moves.size(), params.table);
        UCD_TRY(add_all(builder, to, moves));
        builder.finish(TableUse::again);
        if (builder.bytes() <= SmallBatchParams::max_bytes) {
            params.sections = builder.sections();
            builder.write(params.table);
            return launch_kernel(to, small_batch_kernel(move.direction), params.sections.tiles,
                                 max_blocks(to.device, move), params);
        }
        UCD_TRY(BatchStore::instance().take(to.device, builder.bytes(), list.identity, use));
        return launch_built(to, move, builder, batch_kernel(move.direction), list.identity,
                            std::move(use));
    }
    UCD_TRY(find_table(to, list, use));
    if (use) return launch_table(to, move, std::move(use));
    LargeBatch batch;
    UCD_TRY(batch.begin(to, moves.size(), list.identity));
    UCD_TRY(add_all(batch.builder(), to, moves));
    return batch.launch(to, move);
}

// In as many launches as are needed.
Status launch_batches(const Submission &to, std::span<const Move> moves) {
    while (!moves.empty()) {
        std::size_t members = 0;
        for (uint64_t vectors = 0; members < std::min(moves.size(), max_batch_members); ++members) {
            vectors += batch_vectors_of(moves[members]);
            if (vectors > max_batch_vectors) break;
        }
        UCD_TRY(launch_batch(to, std::span(moves.first(members))));
        moves = moves.subspan(members);
    }
    return success;
}

// Moves of one op and direction: a launch for each kernel that they need.
Status launch_reductions(const Submission &to, const MoveList &list) {
    const std::span<const Move> moves = list.moves;
    if (moves.size() < tuning.min_reductions_batched) {
        for (const Move &move : moves) UCD_TRY(launch_move(to, move));
        return success;
    }
    if (to.mode == LaunchMode::capture && !all_prepared(to, moves)) return not_prepared();
    BatchUse use;
    UCD_TRY(find_table(to, list, use));
    if (use) return launch_table(to, moves.front(), std::move(use));
    std::list<ReduceTableBuilder> builders; // by kernel
    for (const Move &move : moves) {
        std::vector<ListsAt> noted;
        LaunchContext launch = make_context(to, move);
        launch.noted = &noted;
        ReductionNumbers numbers;
        UCD_TRY(describe_reduction(launch, numbers));
        auto builder = std::find_if(builders.begin(), builders.end(),
                                    [&](const auto &b) { return b.is_for(numbers); });
        if (builder == builders.end()) builder = builders.emplace(builders.end(), numbers.own);
        if (!builder->add(numbers)) {
            UCD_TRY(launch_move(to, move));
            continue;
        }
        builder->refer_to(noted);
    }
    for (ReduceTableBuilder &builder : builders) {
        if (builder.members() == 0) continue;
        builder.arrange();
        const bool all = builder.members() == moves.size(); // then it is found again
        const uint64_t identity = all ? list.identity : 0;
        UCD_TRY(BatchStore::instance().take(to.device, builder.bytes(), identity, use));
        UCD_TRY(
            launch_built(to, moves.front(), builder, builder.kernel(), identity, std::move(use)));
    }
    return success;
}

// The common case: all moves are one launch.
bool is_one_launch(std::span<const Move> moves) {
    uint64_t vectors = 0;
    for (const Move &move : moves) {
        if (!joins_batches(move) || move.direction != moves.front().direction) return false;
        vectors += batch_vectors_of(move);
    }
    return vectors <= max_batch_vectors && moves.size() <= max_batch_members;
}

bool is_one_reduction(std::span<const Move> moves) {
    return std::all_of(moves.begin(), moves.end(), [&](const Move &move) {
        return move.op != Op::replace && move.op == moves.front().op &&
               move.direction == moves.front().direction;
    });
}

// Writes the table as the moves are made. `fits` stays false if they must be a list; `move` is the
// last one.
Status write_as_made(const Submission &to, MoveMaker &maker, BatchTableBuilder &builder, Move &move,
                     bool &fits) {
    std::array<MoveAddresses, 64> at; // few enough to stay in the cache
    for (std::size_t first = 0, made = 1; made > 0;) {
        UCD_TRY(maker.make(first, move, at, made));
        if (move.length >= max_positions) return success;
        UCD_TRY(builder.add(to, move, std::span(at).first(made)));
        if (builder.vectors() > max_batch_vectors) return success;
    }
    fits = true;
    return success;
}

// The members that one thread makes, which become a launch of their own.
struct Part {
    LargeBatch batch;
    Move move;
    bool fits = false;
    Status status;
    LastError error; // if that failed

    void write(const Submission &to, MoveMaker &maker) {
        status = write_as_made(to, maker, batch.builder(), move, fits);
        if (!status.ok()) error = last_error();
    }
};

// Builds the tables as the moves are made. `launched` stays false, and nothing has started, if they
// must be a list.
Status launch_as_made(const Submission &to, MoveMaker &maker, bool &launched) {
    const std::size_t members = maker.members();
    if (to.mode == LaunchMode::capture || may_be_small(members) || members > max_batch_members)
        return success;
    std::vector<Part> parts(maker.divide());
    const auto threads = static_cast<unsigned>(parts.size());
    if (threads == 1) {
        UCD_TRY(parts[0].batch.begin(to, members, 0));
        UCD_TRY(write_as_made(to, maker, parts[0].batch.builder(), parts[0].move, parts[0].fits));
    } else {
        for (unsigned i = 0; i < threads; ++i)
            UCD_TRY(parts[i].batch.begin(to, maker.part(i).members(), 0));
        std::mutex mutex;
        const Submission shared{to.device, to.stream, to.mode, to.needs, &mutex};
        in_threads(threads, [&](unsigned i) { parts[i].write(shared, maker.part(i)); });
        maker.unite();
    }
    std::size_t made = 0;
    for (const Part &part : parts) {
        if (!part.status.ok()) last_error() = part.error;
        UCD_TRY(part.status);
        if (!part.fits) return success;
        made += part.batch.builder().members();
    }
    if (made < 2) return success;
    launched = true;
    to.needs.nothing_started = false;
    for (Part &part : parts)
        if (part.batch.builder().members() > 0) UCD_TRY(part.batch.launch(to, part.move));
    return success;
}

} // namespace

Status launch_made(const Submission &to, MoveMaker &maker) {
    to.needs.nothing_started = true;
    bool launched = false;
    UCD_TRY(launch_as_made(to, maker, launched));
    if (launched) return success;
    std::vector<Move> all;
    UCD_TRY(make_all(maker, all));
    to.needs.nothing_started = false;
    return launch_list(to, all);
}

Status launch_list(const Submission &to, const MoveList &list) {
    for (const CopyMove &copy : list.copies) UCD_TRY(launch_copy(to, copy));
    const std::span<const Move> moves = list.moves;
    if (moves.empty()) return success;
    if (moves.size() == 1) return launch_move(to, moves[0]);
    if (list.identity != 0 && to.mode == LaunchMode::now) { // without a look at the moves
        BatchUse use;
        UCD_TRY(find_table(to, list, use));
        if (use) return launch_table(to, moves.front(), std::move(use));
    }
    if (is_one_launch(moves)) return launch_batch(to, list);
    if (is_one_reduction(moves)) return launch_reductions(to, list);
    std::vector<Move> packs, unpacks, copies, reductions;
    for (const Move &move : moves) {
        if (joins_batches(move))
            (move.direction == Direction::pack ? packs : unpacks).push_back(move);
        else if (move.limits.engine == Engine::dma)
            copies.push_back(move);
        else if (move.op != Op::replace)
            reductions.push_back(move);
        else
            UCD_TRY(launch_move(to, move));
    }
    UCD_TRY(launch_reductions(to, reductions));
    UCD_TRY(copy_boxes(to, copies));
    UCD_TRY(launch_batches(to, packs));
    return launch_batches(to, unpacks);
}

Status prepare_batches() {
    for (const Direction d : {Direction::pack, Direction::unpack})
        for (const void *kernel : {batch_kernel(d), small_batch_kernel(d)}) {
            UCD_TRY(load_kernel(kernel));
        }
    return success;
}

} // namespace ucd::UCD_GPU
