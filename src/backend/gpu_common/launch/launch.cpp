#include "launch/launch.h"

#include "launch/batch_table_builder.h"
#include "launch/gpu_plan.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace ucd::UCD_GPU {
namespace {

Status launch_each(LaunchTarget &to, std::span<const Move> moves) {
    for (const Move &move : moves) UCD_TRY(launch_pack(to, move));
    return success;
}

// The kinds of moves that are launched together, and the functions that do it.
enum class Together : uint8_t { nothing, reductions, boxes, packs, unpacks, conversions, copies };
constexpr std::array launch_together{launch_each,    launch_reductions, copy_boxes,
                                     launch_batches, launch_batches,    launch_conversions,
                                     launch_copies};

Together together_with(const Move &move) {
    if (is_conversion(move.op)) return Together::conversions;
    if (move.is_copy()) return Together::copies;
    if (joins_batches(move))
        return move.direction() == Direction::pack ? Together::packs : Together::unpacks;
    if (move.limits.engine == Engine::dma) return Together::boxes;
    return move.op != Op::replace ? Together::reductions : Together::nothing;
}

std::size_t index_of(Together kind) {
    return static_cast<std::size_t>(kind);
}

bool is_prepared(const LaunchTarget &to, const Side &side, Op op) {
    return side.plan == nullptr || plan_of(side).is_prepared(to.device().index(), op);
}

} // namespace

Status launch_list(LaunchTarget &to, std::span<const Move> moves) {
    const auto are_prepared = [&](const Move &move) {
        return is_prepared(to, move.from, move.op) && is_prepared(to, move.to, move.op);
    };
    if (to.is_captured() && !std::all_of(moves.begin(), moves.end(), are_prepared))
        return fail(
            UCD_ERR__NOT_SUPPORTED,
            "the stream is being captured, and ucd_prepare has not been called for the type");
    // A single pack or unpack is no batch.
    if (moves.size() == 1 && !moves[0].is_copy() && joins_batches(moves[0]))
        return launch_pack(to, moves[0]);
    if (moves.empty()) return success;
    const Together first = together_with(moves.front());
    // A list of one kind, which is the common case, is not copied.
    if (std::all_of(moves.begin(), moves.end(),
                    [first](const Move &move) { return together_with(move) == first; }))
        return launch_together[index_of(first)](to, moves);
    std::array<std::vector<Move>, launch_together.size()> sorted;
    for (const Move &move : moves) sorted[index_of(together_with(move))].push_back(move);
    for (std::size_t kind = 0; kind < sorted.size(); ++kind)
        if (!sorted[kind].empty()) UCD_TRY(launch_together[kind](to, sorted[kind]));
    return success;
}

Status launch_made(LaunchTarget &to, MoveMaker &maker) {
    bool launched = false;
    UCD_TRY(launch_as_made(to, maker, launched));
    if (launched) return success;
    std::vector<Move> moves;
    UCD_TRY(make_all(maker, moves));
    return launch_list(to, moves);
}

} // namespace ucd::UCD_GPU
