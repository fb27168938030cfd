#include "nest_plan.h"

#include "layout_walk.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

namespace ucd::seq {
namespace {

bool dense_run(const Layout &layout, const Node &n) {
    const Node &child = layout.nodes[n.child];
    return n.kind == NodeKind::indexed && child.kind == NodeKind::block &&
           n.stride == static_cast<int64_t>(child.bytes);
}

// `open_ended`: the count of the outermost level depends on the call.
bool find_permuted(const Layout &layout, const Node &top, bool open_ended, Axes &axes) {
    // Kernels for merged levels move less than this faster.
    constexpr uint64_t worth_reordering = 8192;
    return find_axes(layout, top, axes) && is_permuted(axes, open_ended) &&
           (axes.count <= max_levels || open_ended || top.bytes >= worth_reordering);
}

// Runs up to this size are moved without a branch on their length; see runs.h.
constexpr uint64_t max_unguessed_run = 32;

// The number of children of the longest run.
uint64_t longest_run(const Level &level) {
    uint64_t longest = 0;
    for (uint64_t r = 0; r < level.count; ++r)
        longest = std::max(longest, level.first[r + 1] - level.first[r]);
    return longest;
}

// A level as a node describes it.
struct NodeLevel {
    LevelKind kind;
    Level level;
    uint64_t each;              // packed bytes of one child
    Span<const int64_t> pieces; // see Table::pieces
};

// The levels from `top` down to its block, the outermost first.
std::vector<NodeLevel> levels_of(const Layout &layout, const Node &top) {
    std::vector<NodeLevel> levels;
    for (const Node *n = &top; n->kind != NodeKind::block; n = &layout.nodes[n->child]) {
        const Node &child = layout.nodes[n->child];
        NodeLevel l{LevelKind::strided, {n->count, n->stride, nullptr, nullptr}, child.bytes};
        if (n->kind == NodeKind::by_reference) {
            l.kind = LevelKind::indexed_block;
        } else if (n->kind != NodeKind::strided) {
            const Table &t = layout.tables[n->table];
            l.level.displs = t.displs.data();
            l.kind =
                n->kind == NodeKind::indexed_block ? LevelKind::indexed_block : LevelKind::indexed;
            if (n->kind == NodeKind::indexed) l.level.first = t.first.data();
            l.pieces = t.pieces;
        }
        levels.push_back(l);
        if (n->kind == NodeKind::indexed && child.kind == NodeKind::block && !dense_run(layout, *n))
            levels.push_back({LevelKind::strided, {1, 0, nullptr, nullptr}, child.bytes});
    }
    return levels;
}

// The number of children in a piece, where all runs of a level consist of equal pieces; 0 if pieces
// do not pay. They pay if most runs are single pieces: a list of pieces is then little longer than
// a list of runs, and has no lengths, which cost branch mispredictions. If some runs are too long
// to be moved without such a branch, runs may consist of more pieces on average.
uint64_t common_piece(const NodeLevel &l, uint64_t block) {
    constexpr uint64_t short_piece = 64; // bytes
    if (l.kind != LevelKind::indexed) return 0;
    const uint64_t *const first = l.level.first;
    const uint64_t runs = l.level.count, children = first[runs];
    const bool long_runs = longest_run(l.level) * block > max_unguessed_run;
    const auto too_many = [&](uint64_t pieces) {
        return long_runs ? pieces > 3 * runs : 2 * pieces >= 3 * runs;
    };
    uint64_t piece = first[1];
    for (uint64_t run = 1; run < runs; ++run) {
        const uint64_t length = first[run + 1] - first[run];
        if (length == piece) continue;
        piece = std::gcd(piece, length);
        if (piece == 1 || too_many(children / piece)) break;
    }
    return piece * block <= short_piece && !too_many(children / piece) ? piece : 0;
}

// Lists of this many pieces exceed the caches. If 32 bits are enough for each entry, reading half
// as many bytes saves more than it costs to widen them. performance only: the bytes are the same
constexpr uint64_t min_narrow_list = uint64_t{1} << 22;

// Calls use() with the displacement of each piece.
template <class Use>
void for_each_piece(const Level &runs, uint64_t piece, Use use) {
    for (uint64_t run = 0; run < runs.count; ++run)
        for (uint64_t i = 0; i < runs.first[run + 1] - runs.first[run]; i += piece)
            use(displace(runs.displs[run], i, runs.stride));
}

// Returns false and makes nothing if 32 bits are not enough.
bool list_narrowly(const Level &runs, uint64_t piece, uint64_t pieces, NestPlan &plan) {
    // The displacements of the pieces of a run ascend.
    int64_t least = runs.displs[0], most = least;
    uint64_t bits = piece * static_cast<uint64_t>(runs.stride);
    for (uint64_t run = 0; run < runs.count; ++run) {
        const uint64_t children = runs.first[run + 1] - runs.first[run];
        least = std::min(least, runs.displs[run]);
        most = std::max(most, displace(runs.displs[run], children - piece, runs.stride));
        bits |= static_cast<uint64_t>(runs.displs[run]); // displs[0] is 0
    }
    const auto shift = static_cast<unsigned>(std::countr_zero(bits));
    if ((static_cast<uint64_t>(most) - static_cast<uint64_t>(least)) >> shift > UINT32_MAX)
        return false;
    plan.narrow_list = std::make_unique<NarrowList>();
    plan.narrow = plan.narrow_list.get();
    plan.narrow_list->least = least;
    plan.narrow_list->shift = shift;
    std::vector<uint32_t> &list = plan.narrow_list->entries;
    list.reserve(pieces);
    for_each_piece(runs, piece, [&](int64_t displ) {
        const uint64_t above = static_cast<uint64_t>(displ) - static_cast<uint64_t>(least);
        list.push_back(static_cast<uint32_t>(above >> shift));
    });
    return true;
}

// Converts dense runs to a list of pieces of `piece` children each. `block` becomes the size of a
// piece.
void list_pieces(NodeLevel &l, uint64_t piece, uint64_t &block, NestPlan &plan) {
    const uint64_t *const first = l.level.first;
    const uint64_t pieces = first[l.level.count] / piece;
    block *= piece;
    l.each = block;
    l.kind = LevelKind::indexed_block;
    if (!l.pieces.empty() && l.pieces.size() == pieces) {
        l.level = {.count = pieces, .displs = l.pieces.data()};
        return;
    }
    if (pieces >= min_narrow_list && list_narrowly(l.level, piece, pieces, plan)) {
        l.level = {.count = pieces};
        return;
    }
    std::vector<int64_t> list;
    list.reserve(pieces);
    for_each_piece(l.level, piece, [&](int64_t displ) { list.push_back(displ); });
    plan.lists.push_back(std::move(list));
    l.level = {.count = pieces, .displs = plan.lists.back().data()};
}

// For nests with more levels, finding the best levels to merge takes too long.
constexpr unsigned max_foldable_levels = 8;

// Merged levels become a list of displacements with at most this many entries.
constexpr uint64_t max_entries = 4096;

// Whether the innermost level consists of rows that kernels move as fast as a loop that was written
// for them: eight small blocks at equal distances, whose addresses need no list (rows.h).
bool has_fast_rows(const std::vector<NodeLevel> &levels) {
    const NodeLevel &rows = levels.back();
    return rows.kind == LevelKind::strided && rows.level.count == 8 && rows.each <= 8 &&
           std::has_single_bit(rows.each);
}

// The level that is best merged with the one below it; no_nest if no two can be merged.
std::size_t pair_to_merge(const std::vector<NodeLevel> &levels, bool open_ended) {
    const std::size_t last = levels.size() - 1;
    const auto entries = [&](std::size_t k) {
        const bool lists = levels[k].kind != LevelKind::indexed &&
                           levels[k + 1].kind != LevelKind::indexed && !(open_ended && k == 0);
        const uint64_t a = levels[k].level.count, b = levels[k + 1].level.count;
        return !lists || a > max_entries || b > max_entries / a ? UINT64_MAX : a * b;
    };
    const auto cheapest = [&](std::size_t end) {
        std::size_t best = no_nest;
        for (std::size_t k = 0; k < end; ++k) {
            if (entries(k) == UINT64_MAX) continue;
            if (best == no_nest || entries(k) <= entries(best)) best = k;
        }
        return best;
    };
    if (has_fast_rows(levels))
        // performance only: a list of single blocks is slower
        if (const std::size_t above = cheapest(last - 1); above != no_nest) return above;
    // Longer rows are faster, although their displacements have to be loaded.
    constexpr uint64_t short_row = 16, long_row = 512;
    if (levels[last].level.count < short_row && entries(last - 1) <= long_row) return last - 1;
    return cheapest(last);
}

void merge(std::vector<NodeLevel> &levels, std::size_t k,
           std::vector<std::vector<int64_t>> *lists) {
    NodeLevel &upper = levels[k];
    const NodeLevel &lower = levels[k + 1];
    const auto displacement = [](const NodeLevel &l, uint64_t i) {
        return l.kind == LevelKind::strided ? displace(0, i, l.level.stride) : l.level.displs[i];
    };
    const uint64_t count = upper.level.count * lower.level.count;
    if (lists != nullptr) {
        std::vector<int64_t> list;
        list.reserve(count);
        for (uint64_t i = 0; i < upper.level.count; ++i)
            for (uint64_t j = 0; j < lower.level.count; ++j)
                list.push_back(displace(displacement(upper, i), displacement(lower, j)));
        lists->push_back(std::move(list));
    }
    upper.kind = LevelKind::indexed_block;
    upper.level = {.count = count, .displs = lists != nullptr ? lists->back().data() : nullptr};
    upper.each = lower.each;
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(k) + 1);
}

// `entries`, if not null, is increased by the number of entries of the lists, whether or not they
// are made.
bool merge_levels(std::vector<NodeLevel> &levels, bool open_ended,
                  std::vector<std::vector<int64_t>> *lists, uint64_t *entries = nullptr) {
    while (levels.size() > max_levels) {
        const std::size_t k = pair_to_merge(levels, open_ended);
        if (k == no_nest) return false;
        merge(levels, k, lists);
        if (entries != nullptr) *entries += levels[k].level.count;
    }
    return true;
}

const Node &block_below(const Layout &layout, const Node &top) {
    const Node *n = &top;
    while (n->kind != NodeKind::block) n = &layout.nodes[n->child];
    return *n;
}

} // namespace

unsigned count_levels(const Layout &layout, const Node &n, unsigned below) {
    if (n.kind == NodeKind::block) return 0;
    if (n.kind == NodeKind::structure || below == no_nest) return no_nest;
    // Its displacements are read block by block, so it is a nest of its own, and its level is never
    // merged.
    if (n.kind == NodeKind::by_reference) return below < max_levels ? below + 1 : no_nest;
    if (n.has_reference) return no_nest;
    // If the blocks of a run do not touch, the innermost level is a single block, and the runs are
    // a level around it.
    const bool loose = n.kind == NodeKind::indexed && below == 0 && !dense_run(layout, n);
    const unsigned levels = below + (loose ? 2 : 1);
    return levels <= max_foldable_levels ? levels : no_nest;
}

bool hides_permuted(const Layout &layout, const Node &top) {
    constexpr uint64_t worth_a_walk = 4096;
    bool hidden = false; // by a level that the loops of a permutation cannot include
    for (const Node *n = &top; n->kind != NodeKind::block; n = &layout.nodes[n->child]) {
        if (Axes axes; hidden && find_permuted(layout, *n, false, axes))
            return n->bytes >= worth_a_walk;
        if (n->kind == NodeKind::structure) return false;
        hidden = hidden || (n->kind != NodeKind::strided && n->kind != NodeKind::indexed_block);
    }
    return false;
}

bool is_nest(const Layout &layout, const Node &top, bool open_ended) {
    if (Axes axes; find_permuted(layout, top, open_ended, axes)) return true;
    std::vector<NodeLevel> levels = levels_of(layout, top);
    return merge_levels(levels, open_ended, nullptr);
}

uint64_t list_bytes_of(const Layout &layout, const Node &top, bool open_ended) {
    if (Axes axes; find_permuted(layout, top, open_ended, axes)) return sizeof axes;
    std::vector<NodeLevel> levels = levels_of(layout, top);
    const uint64_t block = block_below(layout, top).bytes;
    uint64_t entries = 0;
    merge_levels(levels, open_ended, nullptr, &entries);
    // Merging does not change an innermost level of kind indexed.
    if (!levels.empty())
        if (const uint64_t piece = common_piece(levels.back(), block); piece > 0)
            entries += levels.back().level.first[levels.back().level.count] / piece;
    // There is a list for each merged pair of levels, and a list of pieces.
    constexpr uint64_t lists = max_foldable_levels * sizeof(std::vector<int64_t>);
    return entries == 0 ? 0 : entries * sizeof(int64_t) + lists;
}

std::size_t NestPlan::list_bytes() const {
    std::size_t bytes = lists.capacity() * sizeof(std::vector<int64_t>);
    if (narrow != nullptr)
        bytes += sizeof *narrow + narrow->entries.capacity() * sizeof narrow->entries[0];
    if (axes != nullptr) bytes += sizeof *axes;
    for (const auto &list : lists) bytes += list.capacity() * sizeof list[0];
    return bytes;
}

NestPlan make_nest(const Layout &layout, const Node &top, bool open_ended) {
    NestPlan p{};
    p.nest.block = block_below(layout, top).bytes;
    std::vector<NodeLevel> levels = levels_of(layout, top);
    if (Axes axes; find_permuted(layout, top, open_ended, axes)) {
        p.axes = std::make_unique<Axes>(axes);
        p.permuted = p.axes.get();
        if (levels.size() > max_levels) return p;
    }
    merge_levels(levels, open_ended, &p.lists);
    if (!levels.empty())
        if (const uint64_t piece = common_piece(levels.back(), p.nest.block); piece > 0)
            list_pieces(levels.back(), piece, p.nest.block, p);
    for (const NodeLevel &l : levels) {
        const unsigned k = p.levels++;
        p.kinds[k] = l.kind;
        p.nest.level[k] = l.level;
        p.each[k] = l.each;
        p.last.at[k] = l.level.count - 1;
        if (l.kind == LevelKind::indexed)
            p.last.in_run[k] = l.level.first[l.level.count] - l.level.first[l.level.count - 1] - 1;
    }
    if (p.levels == 0) return p;
    const bool runs = p.kinds[p.levels - 1] == LevelKind::indexed;
    if (runs) {
        p.nest.longest_run = longest_run(p.nest.level[p.levels - 1]) * p.nest.block;
        p.nest.runs = p.nest.level[p.levels - 1].count;
    }
    p.leaf = runs ? leaf_for_runs(p.nest.block) : leaf_for_block(p.nest.block);
    for (const Direction d : {Direction::pack, Direction::unpack})
        p.kernel[static_cast<unsigned>(d)] = move_kernel(d, {p.kinds, p.levels}, p.leaf).function;
    p.whole_at_once = p.narrow == nullptr && p.permuted == nullptr;
    return p;
}

} // namespace ucd::seq
