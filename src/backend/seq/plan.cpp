#include "plan.h"

#include "layout_walk.h"

#include <algorithm>
#include <cstdio>

namespace ucd::seq {
namespace {

constexpr unsigned too_deep = max_levels + 1;

bool dense_run(const Layout &layout, const Node &n) {
    const Node &child = layout.nodes[n.child];
    return n.kind == NodeKind::runs && child.kind == NodeKind::block &&
           n.stride == static_cast<int64_t>(child.bytes);
}

// The levels of the nest that a node is, or too_deep if no kernel moves it as a whole. `below`
// gives the levels of its child.
unsigned levels_of(const Layout &layout, const Node &n, unsigned below) {
    switch (n.kind) {
    case NodeKind::block: return 0;
    case NodeKind::strided:
    case NodeKind::indexed: break;
    case NodeKind::runs:
        if (dense_run(layout, n)) return 1;
        // Runs of blocks that do not touch: the innermost level is one block, and the runs are
        // around it.
        if (below == 0) return 2;
        break;
    case NodeKind::sequence: return too_deep;
    }
    return std::min(below + 1, too_deep);
}

// The rows of level `row`, whose columns are the innermost level.
Matrix matrix_of(const NestPlan &p, unsigned row) {
    const Level &rows = p.nest.level[row], &columns = p.nest.level[p.levels - 1u];
    return {rows.count, columns.count, rows.stride, columns.stride, p.each[row], p.nest.block};
}

// `open_ended`: the count of the outermost level depends on the call.
void find_transpose(NestPlan &p, bool open_ended) {
    if (p.levels < 2 || p.kinds[p.levels - 1] != LevelKind::strided) return;
    for (unsigned row = p.levels - 1u; row-- > 0;) {
        // A level between the two is a loop around them.
        if (p.kinds[row] == LevelKind::varying) return;
        if (p.kinds[row] != LevelKind::strided) continue;
        Matrix m = matrix_of(p, row);
        if (row == 0 && open_ended) m.rows = UINT64_MAX;
        if (!is_transposed(m)) continue;
        p.row_level = static_cast<uint8_t>(row);
        for (const Direction d : {Direction::pack, Direction::unpack})
            p.transpose[static_cast<unsigned>(d)] = transpose_kernel(d, p.leaf);
        return;
    }
}

// In children.
uint64_t longest_run(const Level &level) {
    uint64_t longest = 0;
    for (uint64_t r = 0; r < level.count; ++r)
        longest = std::max(longest, level.first[r + 1] - level.first[r]);
    return longest;
}

NestPlan nest_of(const Layout &layout, const Node &top, bool open_ended = false) {
    NestPlan p{};
    const Node *n = &top;
    while (n->kind != NodeKind::block) {
        const unsigned k = p.levels++;
        Level &level = p.nest.level[k];
        const Node &child = layout.nodes[n->child];
        level.count = n->count;
        level.stride = n->stride;
        p.each[k] = child.bytes;
        p.last.at[k] = n->count - 1;
        if (n->kind == NodeKind::strided) {
            p.kinds[k] = LevelKind::strided;
        } else {
            const Table &t = layout.tables[n->table];
            p.kinds[k] = n->kind == NodeKind::indexed ? LevelKind::uniform : LevelKind::varying;
            level.displs = t.displs.data();
            if (n->kind == NodeKind::runs) {
                level.first = t.first.data();
                p.last.in_run[k] = t.first[n->count] - t.first[n->count - 1] - 1;
                if (dense_run(layout, *n))
                    p.nest.longest_run = longest_run(level) * child.bytes;
                else if (child.kind == NodeKind::block) {
                    p.kinds[p.levels] = LevelKind::strided;
                    p.nest.level[p.levels].count = 1;
                    p.each[p.levels++] = child.bytes;
                }
            }
        }
        n = &child;
    }
    p.nest.block = n->bytes;
    if (p.levels == 0) return p;
    p.leaf = p.kinds[p.levels - 1] == LevelKind::varying ? leaf_for_runs(n->bytes)
                                                         : leaf_for_block(n->bytes);
    for (const Direction d : {Direction::pack, Direction::unpack})
        p.kernel[static_cast<unsigned>(d)] = move_kernel(d, {p.kinds, p.levels}, p.leaf);
    find_transpose(p, open_ended);
    return p;
}

} // namespace

SeqPlan::SeqPlan(const Layout &l, int64_t e, bool repeated)
    : form(Form::contiguous), layout(l), extent(e), size(l.empty() ? 0 : l.top().bytes), top{} {
    if (layout.empty()) return;
    // Two stand for any number above one: only the outermost count differs.
    const Node whole = repeat(layout.top(), layout.root, repeated ? 2 : 1, extent);
    if (whole.kind == NodeKind::block) return;

    std::vector<unsigned> levels(layout.nodes.size());
    for (NodeId id = 0; id < layout.nodes.size(); ++id) {
        const Node &n = layout.nodes[id];
        const bool has_child = n.kind != NodeKind::block && n.kind != NodeKind::sequence;
        levels[id] = levels_of(layout, n, has_child ? levels[n.child] : 0);
    }
    const unsigned whole_levels =
        levels_of(layout, whole, whole.kind == NodeKind::sequence ? 0 : levels[whole.child]);
    if (whole_levels <= max_levels) {
        form = Form::nest;
        top = nest_of(layout, whole, repeated);
        iterations = repeated ? whole.count / 2 : whole.count;
        return;
    }
    form = Form::tree;
    part_.assign(layout.nodes.size(), no_part);
    const auto cut = [&](NodeId child) {
        if (levels[child] > max_levels || part_[child] != no_part) return;
        part_[child] = static_cast<uint32_t>(parts_.size());
        parts_.push_back(nest_of(layout, layout.nodes[child]));
    };
    for (NodeId id = 0; id < layout.nodes.size(); ++id) {
        const Node &n = layout.nodes[id];
        if (levels[id] <= max_levels) continue;
        if (n.kind != NodeKind::sequence) {
            cut(n.child);
            continue;
        }
        for (NodeId c : layout.tables[n.table].children) cut(c);
    }
    if (whole.kind == NodeKind::strided) cut(whole.child);
}

std::string SeqPlan::describe() const {
    if (size == 0) return "nothing to move";
    if (form == Form::contiguous) return "memcpy: one block";
    if (form == Form::nest)
        return std::string(move_kernel_name(Direction::pack, {top.kinds, top.levels}, top.leaf)) +
               ": one nest" +
               (top.transposed() ? std::string(", whole rows of level ") +
                                       static_cast<char>('0' + top.row_level) + " by " +
                                       transpose_kernel_name(Direction::pack, top.leaf)
                                 : std::string());
    char text[96];
    std::snprintf(text, sizeof text,
                  "a walk over the upper levels, %zu nests below it:", parts_.size());
    std::string all = text;
    constexpr std::size_t most = 4;
    for (std::size_t i = 0; i < std::min(parts_.size(), most); ++i) {
        const NestPlan &p = parts_[i];
        all += ' ';
        all += p.levels == 0 ? "memcpy"
                             : move_kernel_name(Direction::pack, {p.kinds, p.levels}, p.leaf);
    }
    if (parts_.size() > most) all += " ...";
    return all;
}

std::size_t SeqPlan::memory() const {
    return sizeof *this + part_.capacity() * sizeof part_[0] + parts_.capacity() * sizeof parts_[0];
}

namespace {

char *at(char *origin, int64_t displacement) {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(origin) +
                                    static_cast<uintptr_t>(displacement));
}

// The block that holds the packed byte `offset`.
Position locate(const NestPlan &p, uint64_t offset) {
    Position position{};
    if (offset == 0) return position;
    for (unsigned k = 0; k < p.levels; ++k) {
        const uint64_t child = offset / p.each[k];
        offset -= child * p.each[k];
        if (p.kinds[k] != LevelKind::varying) {
            position.at[k] = child;
            continue;
        }
        const Level &level = p.nest.level[k];
        const uint64_t *end = level.first + level.count + 1;
        position.at[k] =
            static_cast<uint64_t>(std::upper_bound(level.first, end, child) - level.first) - 1;
        position.in_run[k] = child - level.first[position.at[k]];
    }
    return position;
}

int64_t displacement_of(const NestPlan &p, const Position &position) {
    int64_t displacement = 0;
    for (unsigned k = 0; k < p.levels; ++k) {
        const Level &level = p.nest.level[k];
        if (p.kinds[k] == LevelKind::strided) {
            displacement = displace(displacement, position.at[k], level.stride);
            continue;
        }
        displacement = displace(displacement, level.displs[position.at[k]]);
        if (p.kinds[k] == LevelKind::varying)
            displacement = displace(displacement, position.in_run[k], level.stride);
    }
    return displacement;
}

void copy(char *laid_out, char *packed, uint64_t bytes, Direction direction) {
    if (direction == Direction::pack)
        __builtin_memcpy(packed, laid_out, bytes);
    else
        __builtin_memcpy(laid_out, packed, bytes);
}

// Whole blocks, by the kernel for nests.
void run_kernel(const NestPlan &p, char *origin, uint64_t begin, uint64_t end, char *packed,
                Direction direction) {
    if (begin == end) return;
    p.kernel[static_cast<unsigned>(direction)](p.nest, origin, packed, locate(p, begin),
                                               locate(p, end - p.nest.block));
}

// Whole rows [first, last), counted over all iterations of the levels above.
void run_transposed(const NestPlan &p, char *origin, uint64_t first, uint64_t last, char *packed,
                    Direction direction) {
    const unsigned level = p.row_level, between = level + 1u;
    const uint64_t row = p.each[level];
    // The outermost level goes on for as many rows as the call has.
    const uint64_t rows_each = level == 0 ? last : p.nest.level[level].count;
    const uint64_t times = between < p.levels - 1u ? p.nest.level[between].count : 1;
    for (uint64_t i = first; i < last;) {
        Matrix m = matrix_of(p, level);
        m.rows = std::min(rows_each - i % rows_each, last - i);
        Position position = locate(p, i * row);
        for (uint64_t k = 0; k < times; ++k) {
            position.at[between] = times > 1 ? k : 0;
            p.transpose[static_cast<unsigned>(direction)](
                m, at(origin, displacement_of(p, position)), packed + k * p.each[between]);
        }
        packed += m.rows * row;
        i += m.rows;
    }
}

// Whole blocks: in tiles where there are several whole rows to tile.
void run_blocks(const NestPlan &p, char *origin, uint64_t begin, uint64_t end, char *packed,
                Direction direction) {
    constexpr uint64_t worth_tiling = 4;
    if (!p.transposed()) return run_kernel(p, origin, begin, end, packed, direction);
    const uint64_t row = p.each[p.row_level];
    const uint64_t first_row = (begin + row - 1) / row, last_row = end / row;
    if (last_row < first_row + worth_tiling)
        return run_kernel(p, origin, begin, end, packed, direction);
    run_kernel(p, origin, begin, first_row * row, packed, direction);
    packed += first_row * row - begin;
    run_transposed(p, origin, first_row, last_row, packed, direction);
    packed += (last_row - first_row) * row;
    run_kernel(p, origin, last_row * row, end, packed, direction);
}

} // namespace

void run_part(const NestPlan &p, char *origin, uint64_t begin, uint64_t end, char *packed,
              Direction direction) {
    if (p.levels == 0)
        return copy(at(origin, static_cast<int64_t>(begin)), packed, end - begin, direction);
    const uint64_t block = p.nest.block;
    // A block cut off at the start, whole blocks, a block cut off at the end.
    if (const uint64_t skipped = begin % block; skipped != 0) {
        const uint64_t bytes = std::min(block - skipped, end - begin);
        const int64_t from = displacement_of(p, locate(p, begin - skipped));
        copy(at(origin, displace(from, static_cast<int64_t>(skipped))), packed, bytes, direction);
        begin += bytes;
        packed += bytes;
    }
    const uint64_t rest = (end - begin) % block;
    const uint64_t body = end - begin - rest;
    if (body > 0) {
        run_blocks(p, origin, begin, begin + body, packed, direction);
        packed += body;
        begin += body;
    }
    if (rest > 0) copy(at(origin, displacement_of(p, locate(p, begin))), packed, rest, direction);
}

} // namespace ucd::seq
