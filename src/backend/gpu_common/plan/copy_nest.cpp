#include "plan/copy_nest.h"

#include "plan/magnitude.h"

#include <algorithm>
#include <array>

namespace ucd::gpu {
namespace {

// The levels of one side of which the range covers several children, the innermost first.
struct Strides {
    struct SideLevel {
        uint64_t each; // units of a child
        int64_t stride;
    };
    BoundedList<SideLevel, CopyNest::max_of_a_side> levels;
    int64_t unit = 1;    // bytes of a unit
    int64_t origin = 0;  // displacement of the child that contains the range
    uint64_t offset = 0; // offset in its stream at which the range begins

    // The distance in memory of two positions that are `apart` units apart in the stream.
    int64_t stride_of(uint64_t apart) const {
        int64_t stride = static_cast<int64_t>(apart) * unit; // within a block
        for (const SideLevel &level : levels)
            if (level.each <= apart)
                stride =
                    static_cast<int64_t>(apart / level.each * static_cast<uint64_t>(level.stride));
        return stride;
    }
    bool has(uint64_t each) const {
        return std::any_of(levels.begin(), levels.end(),
                           [each](const SideLevel &level) { return level.each == each; });
    }
    // Whether unit `at` of the range begins a child of every level whose children have at most
    // `each` units.
    bool begins_child(uint64_t at, uint64_t each) const {
        return std::all_of(levels.begin(), levels.end(), [&](const SideLevel &level) {
            return level.each > each || (offset + at) % level.each == 0;
        });
    }
    // The displacement of unit `at` of the range.
    int64_t place_of(uint64_t at) const {
        int64_t place = origin;
        uint64_t position = offset + at;
        for (std::size_t k = levels.size(); k-- > 0; position %= levels[k].each)
            place = displace(place, position / levels[k].each, levels[k].stride);
        return displace(place, position, unit);
    }
};

bool strides_of(const CopySide &side, uint64_t length, Strides &strides) {
    strides.unit = side.unit;
    strides.offset = side.offset;
    const Node *n = &side.top;
    for (; n->kind == NodeKind::strided; n = &side.layout.nodes[n->child]) {
        const uint64_t bytes = side.layout.nodes[n->child].bytes, each = bytes / side.unit;
        // Elements are in one piece, unless a list has been cut into smaller equal blocks.
        if (bytes % side.unit != 0) return false;
        const uint64_t child = strides.offset / each;
        if (strides.levels.size() == 0 && (strides.offset + length - 1) / each == child) {
            strides.origin = displace(strides.origin, child, n->stride);
            strides.offset -= child * each;
            continue;
        }
        if (strides.levels.size() == CopyNest::max_of_a_side) return false;
        strides.levels.push_back({each, n->stride});
    }
    std::reverse(strides.levels.begin(), strides.levels.end());
    return n->kind == NodeKind::block && n->bytes % side.unit == 0;
}

using Level = CopyNest::Level;

// Merges each level with the next one where that continues it on both sides; a level that continues
// the block on both sides becomes part of the block.
void merge_levels(CopyNest &nest, int64_t from_unit, int64_t to_unit) {
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
            const auto units = static_cast<int64_t>(nest.block);
            return l.from == units * from_unit && l.to == units * to_unit;
        });
        if (touching == levels.end()) return;
        nest.block *= touching->count;
        levels.erase(touching);
    }
}

// Divides a range into nests.
class Cut {
public:
    Cut(const Strides &from, const Strides &to, CopyNests &nests)
        : from_(from), to_(to), nests_(nests) {}

    // Collects the sizes of children of all levels. False if a size is not a multiple of the next
    // smaller one.
    bool find_sizes() {
        for (const Strides *side : {&from_, &to_})
            for (const Strides::SideLevel &level : side->levels) sizes_.push_back(level.each);
        std::sort(sizes_.begin(), sizes_.end());
        const uint64_t *const end = std::unique(sizes_.begin(), sizes_.end());
        while (sizes_.end() != end) sizes_.pop_back();
        for (std::size_t i = 0; i + 1 < sizes_.size(); ++i)
            if (sizes_[i + 1] % sizes_[i] != 0) return false;
        return true;
    }
    std::size_t sizes() const { return sizes_.size(); }

    // Divides the units [begin, end) of the range, in which no child of a larger size than the
    // first `sizes` sizes begins.
    bool cut(std::size_t sizes, uint64_t begin, uint64_t end) {
        if (begin == end) return true;
        if (sizes == 0) return put({.block = end - begin, .levels = {}}, begin);
        const uint64_t each = sizes_[sizes - 1];
        // performance only: how a range is divided, and whether nests or the stream's order move it
        const bool both = from_.has(each) && to_.has(each);
        if (both && from_.offset % each != to_.offset % each) {
            const auto begins_inside = [&](const Strides &side) {
                return ((side.offset + begin) / each + 1) * each - side.offset < end;
            };
            return !begins_inside(from_) && !begins_inside(to_) && cut(sizes - 1, begin, end);
        }
        const Strides &side = from_.has(each) ? from_ : to_;
        const uint64_t first = (side.offset + begin + each - 1) / each * each - side.offset;
        if (first > end) return cut(sizes - 1, begin, end);
        const uint64_t last = (side.offset + end) / each * each - side.offset;
        return put_children(sizes, first, last) && cut(sizes - 1, begin, first) &&
               cut(sizes - 1, last, end);
    }

private:
    bool put_children(std::size_t sizes, uint64_t begin, uint64_t end) {
        if (begin == end) return true;
        const uint64_t each = sizes_[sizes - 1];
        if (!from_.begins_child(begin, each) || !to_.begins_child(begin, each)) return false;
        CopyNest nest{.block = sizes_[0], .levels = {}};
        for (std::size_t i = 0; i < sizes; ++i) {
            const uint64_t next = i + 1 < sizes ? sizes_[i + 1] : end - begin;
            if (next == sizes_[i]) continue;
            nest.levels.push_back(
                {next / sizes_[i], from_.stride_of(sizes_[i]), to_.stride_of(sizes_[i])});
        }
        return put(nest, begin);
    }
    bool put(const CopyNest &nest, uint64_t begin) {
        if (nests_.size() == CopyNests::max_size) return false;
        nests_.push_back({nest, from_.place_of(begin), to_.place_of(begin)});
        merge_levels(nests_[nests_.size() - 1].nest, from_.unit, to_.unit);
        return true;
    }

    const Strides &from_, &to_;
    CopyNests &nests_;
    BoundedList<uint64_t, 2 * CopyNest::max_of_a_side> sizes_;
};

} // namespace

bool join_strides(const CopySide &from, const CopySide &to, uint64_t length, CopyNests &nests) {
    Strides a, b;
    if (!strides_of(from, length, a) || !strides_of(to, length, b)) return false;
    Cut cut(a, b, nests);
    return cut.find_sizes() && cut.cut(cut.sizes(), 0, length);
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
