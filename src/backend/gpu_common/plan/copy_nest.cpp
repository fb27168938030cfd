#include "plan/copy_nest.h"

#include "plan/magnitude.h"

#include <algorithm>
#include <array>

namespace ucd::gpu {
namespace {

// A strided side: a block and the levels around it, the innermost first.
struct Strides {
    struct Level {
        uint64_t each; // packed size of a child
        int64_t stride;
    };
    uint64_t block = 0;
    ShortList<Level, CopyNest::max_of_a_side> levels;

    // The distance in memory of two positions that are `apart` bytes apart in the stream.
    int64_t stride_of(uint64_t apart) const {
        int64_t stride = static_cast<int64_t>(apart); // within a block
        for (const Level &level : levels)
            if (level.each <= apart)
                stride =
                    static_cast<int64_t>(apart / level.each * static_cast<uint64_t>(level.stride));
        return stride;
    }
};

bool strides_of(const Layout &layout, const Node &top, uint64_t length, Strides &strides) {
    const Node *n = &top;
    for (; n->kind == NodeKind::strided; n = &layout.nodes[n->child]) {
        const uint64_t each = layout.nodes[n->child].bytes;
        if (each >= length) continue; // one child
        if (strides.levels.size() == CopyNest::max_of_a_side) return false;
        strides.levels.push_back({each, n->stride});
    }
    if (n->kind != NodeKind::block) return false;
    strides.block = std::min(n->bytes, length);
    std::reverse(strides.levels.begin(), strides.levels.end());
    return true;
}

using Level = CopyNest::Level;

// Merges each level with the next one where that continues it on both sides; a level that continues
// the block on both sides becomes part of the block.
void merge_levels(CopyNest &nest) {
    auto &levels = nest.levels;
    for (std::size_t i = 0; i < levels.size();) {
        const Level &a = levels[i];
        const auto next = [&](int64_t stride) {
            return static_cast<int64_t>(a.count * static_cast<uint64_t>(stride));
        };
        const auto outer = std::find_if(levels.begin(), levels.end(), [&](const Level &b) {
            return &b != &a && b.from == next(a.from) && b.to == next(a.to);
        });
        if (outer == levels.end()) {
            ++i;
            continue;
        }
        levels[i].count *= outer->count;
        levels.erase(outer);
        i = 0;
    }
    for (;;) {
        const auto touching = std::find_if(levels.begin(), levels.end(), [&](const Level &l) {
            return l.from == static_cast<int64_t>(nest.block) && l.to == l.from;
        });
        if (touching == levels.end()) return;
        nest.block *= touching->count;
        levels.erase(touching);
    }
}

} // namespace

bool join_strides(const Layout &from_layout, const Node &from, const Layout &to_layout,
                  const Node &to, uint64_t length, CopyNest &nest) {
    Strides a, b;
    if (!strides_of(from_layout, from, length, a) || !strides_of(to_layout, to, length, b))
        return false;
    // On each side, blocks or children begin at multiples of these sizes in the stream.
    ShortList<uint64_t, 2 * CopyNest::max_of_a_side + 3> sizes;
    for (const uint64_t size : {a.block, b.block, length}) sizes.push_back(size);
    for (const Strides *side : {&a, &b})
        for (const Strides::Level &level : side->levels) sizes.push_back(level.each);
    std::sort(sizes.begin(), sizes.end());
    const uint64_t *const end = std::unique(sizes.begin(), sizes.end());
    nest = {.block = sizes[0], .levels = {}};
    for (const uint64_t *size = sizes.begin(); size + 1 != end; ++size) {
        if (size[1] % size[0] != 0) return false;
        nest.levels.push_back({size[1] / size[0], a.stride_of(size[0]), b.stride_of(size[0])});
    }
    merge_levels(nest);
    return true;
}

void sort_levels(CopyNest &nest, int64_t Level::*side) {
    std::sort(nest.levels.begin(), nest.levels.end(), [side](const Level &a, const Level &b) {
        return magnitude(a.*side) > magnitude(b.*side);
    });
}

void keep_neighbours_together(CopyNest &nest, int64_t Level::*other_side, const Tuning &tuning) {
    const uint64_t line = tuning.line_bytes;
    const Level last = nest.levels.back();
    const auto is_close = [&](const Level &level) {
        return magnitude(level.*other_side) < std::min(line, magnitude(last.*other_side));
    };
    if (std::none_of(nest.levels.begin(), nest.levels.end(), is_close)) return;
    for (uint64_t part = 1024; part >= 64; part /= 2) {
        if (last.count % part != 0 || last.count == part) continue;
        const auto along = [&](uint64_t count, uint64_t step) -> Level {
            return {count, static_cast<int64_t>(step * static_cast<uint64_t>(last.from)),
                    static_cast<int64_t>(step * static_cast<uint64_t>(last.to))};
        };
        CopyNest::Levels levels;
        nest.levels.pop_back();
        for (const Level &level : nest.levels)
            if (!is_close(level)) levels.push_back(level);
        levels.push_back(along(last.count / part, part));
        for (const Level &level : nest.levels)
            if (is_close(level)) levels.push_back(level);
        levels.push_back(along(part, 1));
        nest.levels = levels;
        return;
    }
}

uint64_t jumps_of(const CopyNest &nest, uint64_t word, const Tuning &tuning) {
    const uint64_t sector = tuning.sector_bytes;
    std::array<uint64_t, CopyNest::Levels::max_size> index{};
    uint64_t in_block = 0, from = 0, to = 0, jumps = 0;
    for (uint64_t lane = 1; lane < tuning.warp_lanes; ++lane) {
        const uint64_t last_from = from, last_to = to;
        in_block += word;
        from += word;
        to += word;
        if (in_block == nest.block) {
            from -= in_block;
            to -= in_block;
            in_block = 0;
            for (std::size_t k = nest.levels.size(); k-- > 0;) {
                const Level &level = nest.levels[k];
                from += static_cast<uint64_t>(level.from);
                to += static_cast<uint64_t>(level.to);
                if (++index[k] < level.count) break;
                from -= index[k] * static_cast<uint64_t>(level.from);
                to -= index[k] * static_cast<uint64_t>(level.to);
                index[k] = 0;
            }
        }
        jumps += (from / sector != last_from / sector) + (to / sector != last_to / sector);
    }
    return jumps;
}

} // namespace ucd::gpu
