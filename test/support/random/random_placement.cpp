#include "support/random/random_placement.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace ucdtest {
namespace {

// Displacement i is the sum of its digits' multiples of up to three strides, each wide enough for
// all that is below it; `slot` is the room, in units, that a block needs.
Ints progression(Rng &rng, std::size_t count, std::intptr_t slot, std::size_t levels) {
    std::intptr_t radix[3] = {1, 1, 1};
    for (std::size_t level = 0; level + 1 < levels; ++level) radix[level] = rng.between(2, 4);
    const auto inner = static_cast<std::size_t>(radix[0] * radix[1]);
    radix[2] = static_cast<std::intptr_t>((count + inner - 1) / inner);
    // The levels get their strides in any order: the smallest need not be the innermost.
    std::vector<std::size_t> by_size = {0, 1, 2};
    if (rng.chance(40)) rng.shuffle(by_size);
    std::intptr_t stride[3];
    std::intptr_t room = slot + random_gap(rng);
    for (const std::size_t level : by_size) {
        stride[level] = rng.chance(20) ? -room : room;
        room = room * radix[level] + (rng.chance(50) ? 0 : random_gap(rng));
    }
    Ints displs(count);
    for (std::size_t i = 0; i < count; ++i) {
        auto rest = static_cast<std::intptr_t>(i);
        for (std::size_t level = 0; level < 3; ++level) {
            const std::intptr_t digit = level == 2 ? rest : rest % radix[level];
            rest /= radix[level];
            displs[i] += digit * stride[level];
        }
    }
    return displs;
}

// One block after another, with gaps, in any order.
Ints sequence(Rng &rng, const std::vector<BlockRange> &blocks, std::intptr_t unit) {
    const std::intptr_t step = std::abs(unit);
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (rng.chance(35)) rng.shuffle(order);
    if (rng.chance(15)) std::reverse(order.begin(), order.end());
    const bool gaps = !rng.chance(20);
    Ints displs(blocks.size());
    std::intptr_t cursor = 0; // bytes, in the direction of the unit
    for (const std::size_t i : order) {
        // Mirrored for negative units, so that the cursor always moves up.
        const std::intptr_t low = unit < 0 ? -blocks[i].high : blocks[i].low;
        const std::intptr_t room = blocks[i].length();
        const std::intptr_t wanted = cursor - low + (gaps ? random_gap(rng) * step : 0);
        // Round up to a multiple of the step, also below 0.
        const std::intptr_t rest = ((wanted % step) + step) % step;
        const std::intptr_t position = rest == 0 ? wanted : wanted - rest + step;
        displs[i] = position / unit;
        cursor = position + low + room;
    }
    return displs;
}

} // namespace

BlockRange block_range(const TypeMap &map, std::intptr_t blocklength) {
    if (blocklength <= 0 || map.entries.empty()) return {};
    const std::intptr_t last = (blocklength - 1) * map.extent;
    return {map.true_lb + std::min<std::intptr_t>(0, last),
            map.true_ub() + std::max<std::intptr_t>(0, last)};
}

std::intptr_t random_gap(Rng &rng) {
    if (rng.chance(30)) return 0;
    return static_cast<std::intptr_t>(rng.mostly_small(24));
}

std::intptr_t units_for(std::intptr_t value, std::intptr_t unit) {
    const std::intptr_t step = std::abs(unit);
    return step == 0 ? 1 : (value + step - 1) / step;
}

Ints orderly_displacements(Rng &rng, const std::vector<BlockRange> &blocks, std::intptr_t unit) {
    if (blocks.empty()) return {};
    if (unit == 0) return Ints(blocks.size(), rng.between(-3, 3));
    Ints displs;
    if (rng.chance(45)) {
        displs = sequence(rng, blocks, unit);
    } else {
        std::intptr_t low = 0, high = 0;
        for (const BlockRange &block : blocks) {
            low = std::min(low, block.low);
            high = std::max(high, block.high);
        }
        const auto slot = std::max<std::intptr_t>(1, units_for(high - low, unit));
        displs = progression(rng, blocks.size(), slot, 1 + rng.below(3));
        // The near miss: one block off, which no rewrite may overlook.
        if (rng.chance(25)) displs[rng.below(displs.size())] += rng.between(-2, 2);
    }
    if (rng.chance(50)) {
        const std::intptr_t shift = rng.between(-40, 40);
        for (std::intptr_t &displ : displs) displ += shift;
    }
    return displs;
}

Ints wild_displacements(Rng &rng, std::size_t count, std::intptr_t unit, std::intptr_t reach) {
    const std::intptr_t limit = unit == 0 ? 5 : std::max<std::intptr_t>(1, reach / std::abs(unit));
    Ints displs(count);
    for (std::intptr_t &displ : displs) displ = rng.between(-limit, limit);
    return displs;
}

} // namespace ucdtest
