#include "types/create.h"

#include "layout.h"
#include "types/blocks.h"
#include "types/bounds.h"
#include "types/elements.h"
#include "types/predefined.h"

#include <algorithm>

namespace ucd {
namespace {

Status not_negative(int64_t value, const char *argument) {
    if (value < 0) [[unlikely]]
        return fail(UCD_ERR__INVALID_ARG, "%s is %jd; it must be >= 0", argument,
                    static_cast<intmax_t>(value));
    return success;
}

Status lengths_valid(int64_t count, const int64_t *blocklengths) {
    for (int64_t i = 0; i < count; ++i)
        if (blocklengths[i] < 0) [[unlikely]]
            return fail(UCD_ERR__INVALID_ARG, "blocklengths[%jd] is %jd; it must be >= 0",
                        static_cast<intmax_t>(i), static_cast<intmax_t>(blocklengths[i]));
    return success;
}

// Sets the displacements. The first ones are kept as they were given, too, if they cannot be
// computed from those in bytes: if the unit is 0, or products wrap, as they may in a type without
// bytes.
SeenList take_displacements(ListType &t, const int64_t *displs, int64_t count, int64_t unit) {
    SeenList seen = displacements_of({displs, static_cast<std::size_t>(count)}, unit);
    t.displs = std::move(seen.displs);
    if (count > 0) t.at = displace(0, static_cast<uint64_t>(displs[0]), unit);
    int64_t product;
    if (unit == 0 || __builtin_mul_overflow(seen.least, unit, &product) ||
        __builtin_mul_overflow(seen.most, unit, &product))
        t.arguments.assign(displs, displs + std::min(count, described_blocks));
    return seen;
}

int64_t unit_of(Unit unit, const Type &child) {
    return unit == Unit::bytes ? 1 : child.extent();
}

Status finish(Bounds &bounds, TypeOwner made, TypeOwner &type) {
    UCD_TRY(bounds.settle());
    type = std::move(made);
    return success;
}

} // namespace

Status array_present(const void *array, int64_t count, const char *argument) {
    if (array == nullptr && count > 0) [[unlikely]]
        return fail(UCD_ERR__INVALID_ARG, "%s is NULL; it must have %jd entries", argument,
                    static_cast<intmax_t>(count));
    return success;
}

Status finish_nest(NestOwner nest, TypeOwner &type) {
    Bounds bounds(*nest);
    bounds.add_nest(nest->at, nest->levels.span(), *nest->child);
    return finish(bounds, std::move(nest), type);
}

Status create_contig(int64_t count, const Type &child, TypeOwner &type) {
    UCD_TRY(not_negative(count, "count"));
    NestOwner t(new NestType(Combiner::contig, child));
    t->levels.push_back({count, child.extent()});
    return finish_nest(std::move(t), type);
}

Status create_dup(const Type &child, TypeOwner &type) {
    TypeOwner t(new NestType(Combiner::dup, child));
    TypeProperties &properties = *t;
    properties = child;
    // performance only: it would be found at first use
    t->state.cache.store(child.state.cache.load(std::memory_order_acquire),
                         std::memory_order_relaxed);
    type = std::move(t);
    return success;
}

Status create_vector(int64_t count, int64_t blocklength, int64_t stride, Unit unit,
                     const Type &child, TypeOwner &type) {
    UCD_TRY(not_negative(count, "count"));
    UCD_TRY(not_negative(blocklength, "blocklength"));
    const int64_t each = unit_of(unit, child);
    int64_t bytes = 0;
    const bool far = __builtin_mul_overflow(stride, each, &bytes);
    if (far && count > 1 && blocklength > 0)
        return fail(UCD_ERR__OVERFLOW, "stride %jd times the extent %jd does not fit",
                    static_cast<intmax_t>(stride), static_cast<intmax_t>(each));
    NestOwner t(new NestType(unit == Unit::bytes ? Combiner::hvector : Combiner::vector, child));
    t->levels.push_back({blocklength, child.extent()});
    t->levels.push_back({count, far ? 0 : bytes});
    if (far || each == 0) t->arguments.assign(1, stride);
    return finish_nest(std::move(t), type);
}

namespace {

// Blocks of one length, for the constructor that the user called; the arguments have been checked.
Status create_equal_blocks(Combiner combiner, int64_t count, int64_t blocklength,
                           const int64_t *displs, Unit unit, const Type &child, TypeOwner &type) {
    TypeOwnerOf<IndexedBlockType> t(new IndexedBlockType(combiner, child));
    t->blocklength = blocklength;
    const int64_t each = unit_of(unit, child);
    const SeenList seen = take_displacements(*t, displs, count, each);
    t->displ_bits = seen.bits;
    Bounds bounds(*t);
    const int128 a = static_cast<int128>(seen.least) * each;
    const int128 b = static_cast<int128>(seen.most) * each;
    bounds.add_many(std::min(a, b), std::max(a, b), count, blocklength, child);
    return finish(bounds, std::move(t), type);
}

} // namespace

Status create_indexed_block(int64_t count, int64_t blocklength, const int64_t *displs, Unit unit,
                            const Type &child, TypeOwner &type) {
    UCD_TRY(not_negative(count, "count"));
    UCD_TRY(not_negative(blocklength, "blocklength"));
    UCD_TRY(array_present(displs, count, "displs"));
    return create_equal_blocks(unit == Unit::bytes ? Combiner::hindexed_block
                                                   : Combiner::indexed_block,
                               count, blocklength, displs, unit, child, type);
}

namespace {

// Only handles of fixed width are accepted, because the width of INT or LONG differs between
// machines.
Status find_index_element(ucd_type_t handle, Element &element) {
    if (handle != UCD_TYPE__INT32_T && handle != UCD_TYPE__UINT32_T &&
        handle != UCD_TYPE__INT64_T && handle != UCD_TYPE__UINT64_T)
        return fail(UCD_ERR__INVALID_ARG,
                    "index_type is none of UCD_TYPE__INT32_T, UINT32_T, INT64_T and UINT64_T");
    element = predefined_type(static_cast<unsigned>(reinterpret_cast<uintptr_t>(handle))).element;
    return success;
}

} // namespace

Status create_indexed_block_ref(int64_t count, int64_t blocklength, const void *indices,
                                ucd_type_t index_type, int64_t unit, int64_t lb, int64_t extent,
                                const Type &child, TypeOwner &type) {
    UCD_TRY(not_negative(count, "count"));
    UCD_TRY(not_negative(blocklength, "blocklength"));
    UCD_TRY(not_negative(extent, "extent"));
    Element element = Element::none;
    UCD_TRY(find_index_element(index_type, element));
    if (reinterpret_cast<uintptr_t>(indices) % packed_size(element) != 0)
        return fail(UCD_ERR__INVALID_ARG, "indices is %p; it must be a multiple of %u", indices,
                    packed_size(element));
    if (child.by_reference)
        return fail(UCD_ERR__NOT_SUPPORTED, "oldtype holds indices by reference itself");
    TypeOwnerOf<ByReferenceType> t(new ByReferenceType(Combiner::indexed_block_ref, child));
    t->count = count;
    t->blocklength = blocklength;
    t->unit = unit;
    t->indices = indices;
    t->index_element = element;
    Bounds bounds(*t);
    bounds.add_many(0, 0, count, blocklength, child);
    UCD_TRY(bounds.settle());
    if (t->size > 0) UCD_TRY(array_present(indices, count, "indices"));
    // The displacements are not known yet, so the caller gives the bounds.
    int64_t ub;
    if (lb == INT64_MIN || __builtin_add_overflow(lb, extent, &ub))
        return fail(UCD_ERR__OVERFLOW, "the bounds %jd and %jd bytes beyond do not fit",
                    static_cast<intmax_t>(lb), static_cast<intmax_t>(extent));
    t->explicit_bounds = true;
    t->lb = lb;
    t->ub = ub;
    t->true_lb = t->size > 0 ? lb : 0;
    t->true_ub = t->size > 0 ? ub : 0;
    type = std::move(t);
    return success;
}

Status create_indexed(int64_t count, const int64_t *blocklengths, const int64_t *displs, Unit unit,
                      const Type &child, TypeOwner &type) {
    UCD_TRY(not_negative(count, "count"));
    UCD_TRY(array_present(blocklengths, count, "blocklengths"));
    UCD_TRY(array_present(displs, count, "displs"));
    const Combiner combiner = unit == Unit::bytes ? Combiner::hindexed : Combiner::indexed;
    const auto entries = static_cast<std::size_t>(count);
    // If the lengths are equal, no sums of them are needed, and the displacements are read once.
    if (count > 0 && std::equal(blocklengths + 1, blocklengths + count, blocklengths)) {
        UCD_TRY(lengths_valid(1, blocklengths));
        return create_equal_blocks(combiner, count, blocklengths[0], displs, unit, child, type);
    }
    TypeOwnerOf<IndexedType> t(new IndexedType(combiner, child));
    const int64_t each = unit_of(unit, child);
    const BlocksOfOwnLength blocks{
        {displs, entries}, {blocklengths, entries}, each, child.extent()};
    Bounds bounds(*t);
    if (!blocks.add_to(bounds, child, t->lengths)) return lengths_valid(count, blocklengths);
    (void)take_displacements(*t, displs, count, each);
    t->first = sums_of(blocks.lengths);
    return finish(bounds, std::move(t), type);
}

Status create_struct(int64_t count, const int64_t *blocklengths, const int64_t *displs,
                     const Type *const *children, TypeOwner &type) {
    UCD_TRY(lengths_valid(count, blocklengths));
    TypeOwnerOf<StructureType> t(new StructureType);
    const auto entries = static_cast<std::size_t>(count);
    t->children.reserve(entries);
    const BlocksOfOwnLength all{{displs, entries}, {blocklengths, entries}, 1, 0};
    (void)take_displacements(*t, displs, count, 1);
    t->first = sums_of(all.lengths);
    Bounds bounds(*t);
    BlockLengths unused;
    // Consecutive members of one type are handled together; a structure of one type is a list.
    for (std::size_t i = 0, next; i < entries; i = next) {
        const Type *const child = children[i];
        for (next = i + 1; next < entries && children[next] == child;) ++next;
        const BlocksOfOwnLength blocks{all.displs.subspan(i, next - i),
                                       all.lengths.subspan(i, next - i), 1, child->extent()};
        (void)blocks.add_to(bounds, *child, unused); // the lengths have been checked
        t->children.insert(t->children.end(), next - i, child);
        retain(*child, next - i);
    }
    UCD_TRY(bounds.settle());
    keep_member_places(*t);
    type = std::move(t);
    return success;
}

Status create_resized(int64_t lb, int64_t extent, const Type &child, TypeOwner &type) {
    TypeOwner t(new NestType(Combiner::resized, child));
    Bounds bounds(*t);
    bounds.add_range(0, 0, 1, child);
    bounds.set(lb, static_cast<int128>(lb) + extent);
    return finish(bounds, std::move(t), type);
}

} // namespace ucd
