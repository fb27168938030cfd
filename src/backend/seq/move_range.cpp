#include "move_range.h"

#include "layout_walk.h"

namespace ucd::seq {
namespace {

void move_tree(const SeqPlan &plan, const Side &side, Slice range, char *packed,
               Direction direction) {
    const Layout &layout = plan.layout;
    const Node top = repeat(layout.top(), layout.root, side.count, plan.extent);
    const Node *nodes = layout.nodes.data();
    const auto id = [&](const Node &n) {
        return &n == &top ? layout.root : static_cast<NodeId>(&n - nodes);
    };
    const auto is_leaf = [&](const Node &n) {
        return (&n != &top || side.count == 1) && plan.is_leaf(id(n));
    };
    Walk walk(layout, top, layout.start, is_leaf);
    walk.start(range.offset, range.length);
    for (Piece piece; walk.next(piece);) {
        const NestPlan &part = plan.part(id(*piece.node));
        char *const origin = at(side.address, piece.origin);
        if (piece.node->kind == NodeKind::by_reference)
            run_by_reference(part, layout.index_lists[piece.node->table], origin, piece.begin,
                             piece.end, packed, direction);
        else
            run_nest(part, part.nest.level[0].count, piece.node->bytes, origin, piece.begin,
                     piece.end, packed, direction);
        packed += piece.end - piece.begin;
    }
}

void move_blocks(const SeqPlan &plan, const Side &side, Slice range, char *packed,
                 Direction direction) {
    const Layout &layout = plan.layout;
    const Node top = repeat(layout.top(), layout.root, side.count, plan.extent);
    Walk walk(layout, top, layout.start, is_block);
    walk.start(range.offset, range.length);
    for (Piece piece; walk.next(piece);) {
        const uint64_t bytes = piece.end - piece.begin;
        const int64_t first = displace(piece.origin, static_cast<int64_t>(piece.begin));
        copy_block(direction, at(side.address, first), packed, bytes);
        packed += bytes;
    }
}

} // namespace

void move_range(const Side &side, Slice range, char *packed, Direction direction) {
    const SeqPlan &plan = plan_of(side);
    char *origin = at(side.address, plan.layout.start);
    switch (plan.form) {
    case SeqPlan::Form::contiguous:
        return copy_block(direction, at(origin, static_cast<int64_t>(range.offset)), packed,
                          range.length);
    case SeqPlan::Form::nest:
        return run_nest(plan.top, plan.iterations * side.count, plan.size * side.count, origin,
                        range.offset, range.offset + range.length, packed, direction);
    case SeqPlan::Form::tree: return move_tree(plan, side, range, packed, direction);
    case SeqPlan::Form::blocks: return move_blocks(plan, side, range, packed, direction);
    }
}

} // namespace ucd::seq
