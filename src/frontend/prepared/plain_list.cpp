#include "prepared/plain_list.h"

#include "prepared/type_cache.h"
#include "types/predefined.h"

namespace ucd {
namespace {

// Whether the type's packed bytes are consecutive in memory. Makes the layout of a type that is not
// predefined only if this is possible. Types from flattened bytes have a budget for layouts, so
// theirs is not made.
bool is_one_block(const Type &type) {
    if (type.form == Form::element) return pieces_of(type.element).second_bytes == 0;
    if (type.unflattened || type.by_reference) return false;
    const bool dense = type.size == static_cast<uint64_t>(type.true_ub - type.true_lb);
    return dense && layout_of(type).top().kind == NodeKind::block;
}

} // namespace

PlainList::PlainList(const Type &type) {
    if (type.size == 0 || type.original().cache.load(std::memory_order_acquire) != nullptr) return;
    const Type *inner = &type;
    int64_t shifted = 0;
    for (; inner->form == Form::wrap; inner = inner->child)
        shifted = displace(shifted, inner->stride);
    if (inner->form != Form::indexed_block && inner->form != Form::indexed) return;
    const Type &child = *inner->child;
    const bool single = inner->form == Form::indexed_block && inner->blocklength == 1;
    if (!single && child.extent() != static_cast<int64_t>(child.size)) return;
    if (!is_one_block(child) || !inner->lists.hold()) return;
    const uint64_t times =
        inner->form == Form::indexed ? 1 : static_cast<uint64_t>(inner->blocklength);
    list = inner;
    shift = displace(shifted, child.true_lb);
    bytes = times * child.size;
}

[[gnu::cold]] int64_t first_byte_of(const PlainList &plain) {
    const Type &list = *plain.list;
    int64_t first = 0;
    while (list.block_length(first) == 0) ++first;
    const auto displ = static_cast<uint64_t>(list.lists.displs[static_cast<std::size_t>(first)]);
    return displace(plain.shift, displ, list.unit);
}

namespace {

// The list stays the type's. The segments are set as if no two blocks touched. Backends use them
// only to choose a kernel, so results do not depend on this.
OwnedLayout described_layout(const Type &type, const PlainList &plain) {
    const Type &list = *plain.list;
    OwnedLayout layout;
    Node block;
    block.bytes = plain.bytes;
    block.high = static_cast<int64_t>(plain.bytes);
    block.segments = {
        .count = 1, .first_bytes = plain.bytes, .last_bytes = plain.bytes, .last_end = block.high};
    const int64_t start = first_byte_of(plain);
    Node blocks;
    blocks.kind = NodeKind::indexed_block;
    blocks.count = static_cast<uint64_t>(list.count);
    blocks.bytes = list.size;
    blocks.low = displace(type.true_lb, UINT64_MAX, start);
    blocks.high = displace(type.true_ub, UINT64_MAX, start);
    const GivenList given{list.lists.displs, list.unit,
                          list.differing * static_cast<uint64_t>(list.unit)};
    blocks.segments = block.segments;
    blocks.segments.count = blocks.count;
    blocks.segments.inner_min = blocks.segments.inner_max = plain.bytes;
    blocks.segments.last_end = displace(displacement_at(given, blocks.count - 1), block.high);
    layout.set_given(given);
    layout.add(TableLists());
    layout.add(block);
    layout.set_top(layout.add(blocks), start, 2);
    return layout;
}

} // namespace

ConstTypeOwner as_described(const Type &type, const PlainList &plain) {
    return with_layout(type, described_layout(type, plain), &plain.list->lists);
}

PlainBlocks blocks_of(const PlainList &plain) {
    const Type &list = *plain.list;
    PlainBlocks blocks;
    blocks.displs = list.lists.displs;
    if (list.form == Form::indexed) blocks.lengths = list.lists.lengths.data();
    blocks.shift = plain.shift;
    blocks.unit = list.unit;
    blocks.bytes = plain.bytes;
    return blocks;
}

} // namespace ucd
