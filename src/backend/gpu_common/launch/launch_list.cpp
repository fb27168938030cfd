#include "launch/launch_list.h"

#include "launch/batch_launch.h"
#include "launch/batch_table_builder.h"
#include "launch/box_copy.h"
#include "launch/convert_launch.h"
#include "launch/copy_launch.h"
#include "launch/gpu_plan.h"
#include "launch/launch.h"
#include "launch/reduction.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace ucd::UCD_GPU {
namespace {

// The kinds of moves that are launched together.
enum class Together : uint8_t { packs, unpacks, reductions, boxes, nothing, count_ };

Together together_with(const Move &move) {
    if (joins_batches(move))
        return move.direction == Direction::pack ? Together::packs : Together::unpacks;
    if (move.limits.engine == Engine::dma) return Together::boxes;
    return move.op != Op::replace ? Together::reductions : Together::nothing;
}

// The moves of a list, sorted by kind. A list of one kind, which is the common case, is not copied.
class Sorted {
public:
    explicit Sorted(std::span<const Move> moves) {
        if (moves.empty()) return;
        const Together first = together_with(moves.front());
        if (std::all_of(moves.begin(), moves.end(),
                        [first](const Move &move) { return together_with(move) == first; })) {
            (*this)[first] = moves;
            return;
        }
        for (const Move &move : moves) moves_[index(together_with(move))].push_back(move);
        for (std::size_t i = 0; i < spans_.size(); ++i) spans_[i] = moves_[i];
    }
    std::span<const Move> &operator[](Together kind) { return spans_[index(kind)]; }

private:
    static constexpr std::size_t kinds = static_cast<std::size_t>(Together::count_);
    static std::size_t index(Together kind) { return static_cast<std::size_t>(kind); }
    std::array<std::span<const Move>, kinds> spans_;
    std::array<std::vector<Move>, kinds> moves_;
};

bool is_prepared(const Submission &to, const KernelPlan *plan, Op op) {
    return static_cast<const GpuPlan *>(plan)->is_prepared(to.device.index(), op);
}

bool is_prepared_for(const Submission &to, const CopyMove::Side &side, Op op) {
    return side.plan == nullptr || is_prepared(to, side.plan, op);
}

// Whether everything in the list has been prepared for a graph.
bool are_prepared(const Submission &to, const MoveList &list) {
    return std::all_of(list.moves.begin(), list.moves.end(),
                       [&](const Move &move) { return is_prepared(to, move.plan, move.op); }) &&
           std::all_of(list.copies.begin(), list.copies.end(), [&](const CopyMove &move) {
               return is_prepared_for(to, move.from, move.op) &&
                      is_prepared_for(to, move.to, move.op);
           });
}

Status launch_all(const Submission &to, Span<const CopyMove> copies) {
    const auto converts = [](const CopyMove &move) { return is_conversion(move.op); };
    if (std::none_of(copies.begin(), copies.end(), converts)) return launch_copies(to, copies);
    std::vector<CopyMove> conversions, others;
    for (const CopyMove &move : copies) (converts(move) ? conversions : others).push_back(move);
    UCD_TRY(launch_conversions(to, conversions));
    return launch_copies(to, others);
}

} // namespace

Status launch_list(const Submission &to, const MoveList &list) {
    if (to.mode == LaunchMode::capture && !are_prepared(to, list)) return not_prepared();
    if (list.moves.size() == 1) {
        UCD_TRY(launch_move(to, list.moves[0]));
    } else {
        Sorted moves(list.moves);
        for (const Move &move : moves[Together::nothing]) UCD_TRY(launch_move(to, move));
        UCD_TRY(launch_reductions(to, moves[Together::reductions]));
        UCD_TRY(copy_boxes(to, moves[Together::boxes]));
        UCD_TRY(launch_batches(to, moves[Together::packs]));
        UCD_TRY(launch_batches(to, moves[Together::unpacks]));
    }
    return launch_all(to, list.copies);
}

Status launch_made(const Submission &to, MoveMaker &maker) {
    to.needs.nothing_started = true;
    const std::size_t members = maker.members();
    bool launched = false;
    if (to.mode == LaunchMode::now && !is_small_batch(members) && members <= max_batch_members)
        UCD_TRY(launch_as_made(to, maker, launched));
    if (launched) return success;
    std::vector<Move> moves;
    UCD_TRY(make_all(maker, moves));
    to.needs.nothing_started = false;
    return launch_list(to, moves);
}

} // namespace ucd::UCD_GPU
