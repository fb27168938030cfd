#include "copy_nest.h"

#include <algorithm>
#include <array>

namespace ucd::UCD_GPU {
namespace {

constexpr std::size_t most_levels_of_a_side = 16;

uint64_t magnitude(int64_t n) {
    return n < 0 ? ~static_cast<uint64_t>(n) + 1 : static_cast<uint64_t>(n);
}

// Blocks within strides, the innermost first.
struct Strides {
    struct Level {
        uint64_t each; // packed bytes of a child
        int64_t stride;
    };
    uint64_t block = 0;
    std::vector<Level> levels;

    // Bytes in memory between things that are `apart` in the stream.
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
        if (each < length) strides.levels.push_back({each, n->stride}); // else there is one child
        if (strides.levels.size() > most_levels_of_a_side) return false;
    }
    if (n->kind != NodeKind::block) return false;
    strides.block = std::min(n->bytes, length);
    std::reverse(strides.levels.begin(), strides.levels.end());
    return true;
}

using Level = CopyNest::Level;

// Levels that carry on where others end, on both sides, are one; those around the block that do are
// part of it.
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
    // In the stream, something begins on each side at multiples of these.
    std::vector<uint64_t> sizes{a.block, b.block, length};
    for (const Strides *side : {&a, &b})
        for (const Strides::Level &level : side->levels) sizes.push_back(level.each);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    nest = {.block = sizes[0], .levels = {}};
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
        if (sizes[i + 1] % sizes[i] != 0) return false;
        nest.levels.push_back(
            {sizes[i + 1] / sizes[i], a.stride_of(sizes[i]), b.stride_of(sizes[i])});
    }
    merge_levels(nest);
    return true;
}

void sort_levels(CopyNest &nest, int64_t Level::*side) {
    std::stable_sort(
        nest.levels.begin(), nest.levels.end(),
        [side](const Level &a, const Level &b) { return magnitude(a.*side) > magnitude(b.*side); });
}

uint64_t sectors_of(const CopyNest &nest, uint64_t word, uint64_t lanes) {
    constexpr uint64_t sector = 32;
    uint64_t sectors = 0;
    for (int64_t Level::*side : {&Level::from, &Level::to}) {
        std::vector<uint64_t> touched;
        for (uint64_t lane = 0; lane < lanes; ++lane) {
            uint64_t rest = lane * word / nest.block, at = lane * word % nest.block;
            for (std::size_t k = nest.levels.size(); k-- > 0; rest /= nest.levels[k].count)
                at += rest % nest.levels[k].count * static_cast<uint64_t>(nest.levels[k].*side);
            touched.push_back((at + (uint64_t{1} << 63)) / sector);
        }
        std::sort(touched.begin(), touched.end());
        sectors +=
            static_cast<uint64_t>(std::unique(touched.begin(), touched.end()) - touched.begin());
    }
    return sectors;
}

} // namespace ucd::UCD_GPU
