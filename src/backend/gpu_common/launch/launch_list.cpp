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
enum class Together : uint8_t {
    nothing,
    reductions,
    boxes,
    packs,
    unpacks,
    conversions,
    copies,
    count_
};

Together together_with(const Move &move) {
    if (is_conversion(move.op)) return Together::conversions;
    if (move.is_copy()) return Together::copies;
    if (joins_batches(move))
        return move.direction() == Direction::pack ? Together::packs : Together::unpacks;
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

bool is_prepared(const LaunchTarget &to, const Side &side, Op op) {
    return side.plan == nullptr || plan_of(side).is_prepared(to.device().index(), op);
}

} // namespace

Status launch_list(LaunchTarget &to, const MoveList &list) {
    const auto are_prepared = [&](const Move &move) {
        return is_prepared(to, move.from, move.op) && is_prepared(to, move.to, move.op);
    };
    if (to.is_captured() && !std::all_of(list.begin(), list.end(), are_prepared))
        return not_prepared();
    // A single pack or unpack is no batch.
    if (list.size() == 1 && !list[0].is_copy() && !is_conversion(list[0].op))
        return launch_move(to, list[0]);
    Sorted moves({list.data(), list.size()});
    for (const Move &move : moves[Together::nothing]) UCD_TRY(launch_move(to, move));
    UCD_TRY(launch_reductions(to, moves[Together::reductions]));
    UCD_TRY(copy_boxes(to, moves[Together::boxes]));
    UCD_TRY(launch_batches(to, moves[Together::packs]));
    UCD_TRY(launch_batches(to, moves[Together::unpacks]));
    UCD_TRY(launch_conversions(to, moves[Together::conversions]));
    return launch_copies(to, moves[Together::copies]);
}

Status launch_made(LaunchTarget &to, MoveMaker &maker) {
    const std::size_t members = maker.members();
    bool launched = false;
    if (to.is_single() && !is_small_batch(members) && members <= max_batch_members)
        UCD_TRY(launch_as_made(to, maker, launched));
    if (launched) return success;
    std::vector<Move> moves;
    UCD_TRY(make_all(maker, moves));
    return launch_list(to, moves);
}

} // namespace ucd::UCD_GPU
