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
    if (type.size == 0 || type.original().state.cache.load(std::memory_order_acquire) != nullptr)
        return;
    const auto [inner, shifted] = below_displacements(type);
    if (!is_indexed(*inner)) return;
    const auto &found = as<ListType>(*inner);
    const Type &child = *inner->child;
    const bool single = inner->form == Form::indexed_block && found.blocklength == 1;
    if (!single && child.extent() != static_cast<int64_t>(child.size)) return;
    if (!is_one_block(child)) return;
    list = &found;
    blocks.displs = found.displs;
    if (inner->form == Form::indexed) {
        const BlockLengths &lengths = as<IndexedType>(found).lengths;
        blocks.first = found.first.data();
        blocks.shortest = static_cast<uint64_t>(lengths.shortest);
        blocks.longest = static_cast<uint64_t>(lengths.longest);
    }
    blocks.shift = displace(displace(shifted, found.at), child.true_lb);
    blocks.bytes = static_cast<uint64_t>(found.blocklength) * child.size;
}

[[gnu::cold]] int64_t first_byte_of(const PlainList &plain) {
    int64_t first = 0;
    while (plain.list->block_length(first) == 0) ++first;
    return displace(plain.blocks.shift, plain.blocks.displs[static_cast<std::size_t>(first)]);
}

namespace {

// The list stays the type's. The segments are set as if no two blocks touched. Backends use them
// only to choose a kernel, so results do not depend on this.
OwnedLayout described_layout(const Type &type, const PlainList &plain) {
    const auto &list = as<IndexedBlockType>(*plain.list);
    const uint64_t bytes = plain.blocks.bytes;
    OwnedLayout layout;
    Node block;
    block.bytes = bytes;
    block.high = static_cast<int64_t>(bytes);
    block.segments = {
        .count = 1, .first_bytes = bytes, .last_bytes = bytes, .last_end = block.high};
    const int64_t start = first_byte_of(plain);
    Node blocks;
    blocks.kind = NodeKind::indexed_block;
    blocks.count = static_cast<uint64_t>(list.count());
    blocks.bytes = list.size;
    blocks.low = step_between(start, type.true_lb);
    blocks.high = step_between(start, type.true_ub);
    blocks.segments = block.segments;
    blocks.segments.count = blocks.count;
    blocks.segments.inner_min = blocks.segments.inner_max = bytes;
    blocks.segments.last_end = displace(list.displs.back(), block.high);
    layout.set_moved_once(list.displ_bits);
    layout.add(Table{.displs = list.displs});
    layout.add(block);
    layout.set_top(layout.add(blocks), start, 2);
    return layout;
}

} // namespace

ConstTypeOwner as_described(const Type &type, const PlainList &plain) {
    return with_layout(type, described_layout(type, plain));
}

} // namespace ucd
