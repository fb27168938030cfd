#include "prepared/plain_list.h"

#include "prepared/type_cache.h"
#include "types/predefined.h"

namespace ucd {
namespace {

// Whether its packed bytes lie one after the other in memory. The layout of anything but a
// predefined type is made only if it may be so; what is made of flattened bytes has a budget.
bool is_one_block(const Type &type) {
    if (type.form == Form::element) return pieces_of(type.element).second_bytes == 0;
    if (type.unflattened || type.by_reference) return false;
    const bool dense = type.size == static_cast<uint64_t>(type.true_ub - type.true_lb);
    return dense && layout_of(type).top().kind == NodeKind::block;
}

} // namespace

bool is_plain_list(const Type &type, PlainList &plain) {
    if (type.size == 0 || type.cache.load(std::memory_order_acquire) != nullptr) return false;
    const Type *list = &type;
    int64_t shift = 0;
    for (; list->form == Form::wrap; list = list->child) shift = displace(shift, list->stride);
    if (list->form != Form::indexed_block && list->form != Form::indexed) return false;
    const Type &child = *list->child;
    const bool single = list->form == Form::indexed_block && list->blocklength == 1;
    if (!single && child.extent() != static_cast<int64_t>(child.size)) return false;
    if (!is_one_block(child)) return false;
    const uint64_t times =
        list->form == Form::indexed ? 1 : static_cast<uint64_t>(list->blocklength);
    plain = {list, displace(shift, child.true_lb), times * child.size};
    return true;
}

[[gnu::cold]] int64_t first_byte_of(const PlainList &plain) {
    const Type &list = *plain.list;
    int64_t first = 0;
    while (list.block_length(first) == 0) ++first;
    const auto displ = static_cast<uint64_t>(list.displs[static_cast<std::size_t>(first)]);
    return displace(plain.shift, displ, list.unit);
}

ListMove move_of(const PlainList &plain) {
    const Type &list = *plain.list;
    ListMove move;
    move.displs = list.displs;
    if (list.form == Form::indexed) move.lengths = list.blocklengths.data();
    move.unit = list.unit;
    move.bytes = plain.bytes;
    move.total = list.size;
    return move;
}

} // namespace ucd
