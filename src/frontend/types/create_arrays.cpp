// Arrays: subarray, darray (MPI-4.1 5.1.3, 5.1.4) and ndarray are reduced to nested strides.

#include "types/create.h"

#include "layout.h"
#include "types/bounds.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ucd {
namespace {

Status bad(const char *array, int i, int64_t value, const char *rule) {
    return fail(UCD_ERR__INVALID_ARG, "%s[%d] is %jd; %s", array, i, static_cast<intmax_t>(value),
                rule);
}

Status check_dims(int ndims, int least) {
    if (ndims < least)
        return fail(UCD_ERR__INVALID_ARG, "ndims is %d; it must be >= %d", ndims, least);
    return success;
}

Status check_order(int order) {
    if (order != UCD_ORDER__C && order != UCD_ORDER__FORTRAN)
        return fail(UCD_ERR__INVALID_ARG,
                    "order is %d; it must be UCD_ORDER__C or UCD_ORDER__FORTRAN", order);
    return success;
}

// Makes the nest of an array, displaced by `shift`, which keeps the user's arguments. If `extent`
// is given, the bounds are those of the whole array: from 0 to `*extent`.
Status finish_array(NestOwner t, int128 shift, const int128 *extent, TypeOwner &type) {
    Bounds bounds(*t);
    bounds.add_nest(shift, t->levels.span(), *t->child);
    if (extent != nullptr) bounds.set(0, *extent);
    UCD_TRY(bounds.settle());
    t->at = t->size > 0 ? static_cast<int64_t>(shift) : 0;
    type = std::move(t);
    return success;
}

// The index of the k-th fastest dimension. The dimension that varies fastest is the last one in C
// order and the first one in Fortran order.
int dimension(int order, int ndims, int k) {
    return order == UCD_ORDER__C ? ndims - 1 - k : k;
}

// Whether the array has no elements. Its extent and all loops over it are then 0, whichever
// dimension has size 0. Checked first, because the product of the other sizes could overflow.
bool is_empty(int ndims, const int64_t *sizes) {
    return std::any_of(sizes, sizes + ndims, [](int64_t n) { return n == 0; });
}

// Multiplies `bytes` by `size`; OVERFLOW if the product is too large.
Status grow(int128 &bytes, int64_t size) {
    bytes *= size;
    if (bytes > INT64_MAX || bytes < -INT64_MAX)
        return fail(UCD_ERR__OVERFLOW, "the extent of the array exceeds %jd bytes",
                    static_cast<intmax_t>(INT64_MAX));
    return success;
}

} // namespace

Status create_subarray(int ndims, const int64_t *sizes, const int64_t *subsizes,
                       const int64_t *starts, int order, const Type &child, TypeOwner &type) {
    UCD_TRY(check_dims(ndims, 1));
    UCD_TRY(array_present(sizes, ndims, "sizes"));
    UCD_TRY(array_present(subsizes, ndims, "subsizes"));
    UCD_TRY(array_present(starts, ndims, "starts"));
    UCD_TRY(check_order(order));
    for (int i = 0; i < ndims; ++i) {
        if (sizes[i] < 0) return bad("sizes", i, sizes[i], "it must be >= 0");
        if (subsizes[i] < 0 || subsizes[i] > sizes[i])
            return bad("subsizes", i, subsizes[i], "it must be in 0 .. sizes[i]");
        if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
            return bad("starts", i, starts[i], "it must be in 0 .. sizes[i] - subsizes[i]");
    }
    const bool empty = is_empty(ndims, sizes);
    NestOwner t(new NestType(Combiner::subarray, child));
    int128 bytes = empty ? 0 : child.extent(), shift = 0;
    for (int k = 0; k < ndims; ++k) {
        const int d = dimension(order, ndims, k);
        shift += bytes * starts[d];
        t->levels.push_back({empty ? 0 : subsizes[d], static_cast<int64_t>(bytes)});
        UCD_TRY(grow(bytes, sizes[d]));
    }
    t->arguments.reserve(3 * static_cast<std::size_t>(ndims) + 2);
    t->arguments.push_back(ndims);
    for (const int64_t *a : {sizes, subsizes, starts})
        t->arguments.insert(t->arguments.end(), a, a + ndims);
    t->arguments.push_back(order);
    return finish_array(std::move(t), shift, &bytes, type);
}

namespace {

// The elements of one dimension that a process owns: `full_blocks` blocks of `block` elements,
// `period` apart, then a block of `rest` elements. The first block starts at element `first`.
struct ProcessShare {
    int64_t first, full_blocks, block, period, rest;
};

constexpr ProcessShare nothing{};

Status share_of(int i, int64_t gsize, int distrib, int64_t darg, int procs, int64_t coord,
                ProcessShare &s) {
    if (distrib == UCD_DISTRIBUTE__NONE) {
        if (procs != 1) return bad("psizes", i, procs, "it must be 1 where distribs is NONE");
        s = {0, 1, gsize, gsize, 0};
        return success;
    }
    if (distrib != UCD_DISTRIBUTE__BLOCK && distrib != UCD_DISTRIBUTE__CYCLIC)
        return bad("distribs", i, distrib, "it must be UCD_DISTRIBUTE__BLOCK, __CYCLIC or __NONE");
    if (darg <= 0 && darg != UCD_DISTRIBUTE__DFLT_DARG)
        return bad("dargs", i, darg, "it must be > 0 or UCD_DISTRIBUTE__DFLT_DARG");
    int64_t block = darg;
    if (darg == UCD_DISTRIBUTE__DFLT_DARG)
        block = distrib == UCD_DISTRIBUTE__CYCLIC
                    ? 1
                    : std::max<int64_t>(gsize / procs + (gsize % procs != 0), 1);
    const int128 first = static_cast<int128>(block) * coord;
    const int128 period = static_cast<int128>(block) * procs;
    if (distrib == UCD_DISTRIBUTE__BLOCK && period < gsize)
        return bad("dargs", i, darg,
                   "blocks of that length on psizes[i] processes must cover gsizes[i]");
    if (first >= gsize) {
        s = nothing;
        return success;
    }
    const int128 beyond = gsize - first; // from the first owned element to the end
    s.first = static_cast<int64_t>(first);
    s.block = block;
    s.full_blocks = static_cast<int64_t>(beyond / period);
    const int128 last = beyond - s.full_blocks * period;
    if (last >= block)
        ++s.full_blocks;
    else
        s.rest = static_cast<int64_t>(last);
    if (s.full_blocks == 0) {
        // The only block is cut short by the end of the dimension; `block` may be much longer.
        s.full_blocks = 1;
        s.block = s.rest;
        s.rest = 0;
    }
    s.period = s.full_blocks + (s.rest > 0) > 1 ? static_cast<int64_t>(period) : s.block;
    return success;
}

using Levels = ShortList<StrideLevel, 2>;

// A part of a darray: it has no arguments.
Status create_part(Levels levels, const Type &child, TypeOwner &type) {
    NestOwner t(new NestType(Combiner::darray, child));
    t->levels = std::move(levels);
    return finish_nest(std::move(t), type);
}

// Puts one dimension around `levels` around `child`; `bytes` is the distance between neighbours in
// that dimension. If a dimension ends with a shorter block, it becomes a structure, which is the
// new child and is kept by `parts`.
Status distribute(Levels &levels, const Type *&child, TypeOwner &parts, const ProcessShare &s,
                  int64_t bytes) {
    // A product that does not fit wraps. It then exceeds the array's extent, which is reported as
    // OVERFLOW.
    const int64_t period = displace(0, static_cast<uint64_t>(s.period), bytes);
    if (s.rest == 0) {
        levels.push_back({s.block, bytes});
        levels.push_back({s.full_blocks, period});
        return success;
    }
    TypeOwner inner, full, rest;
    UCD_TRY(create_part(std::exchange(levels, {}), *child, inner));
    Levels of_full, of_rest;
    of_full.push_back({s.block, bytes});
    of_full.push_back({s.full_blocks, period});
    of_rest.push_back({s.rest, bytes});
    UCD_TRY(create_part(std::move(of_full), *inner, full));
    UCD_TRY(create_part(std::move(of_rest), *inner, rest));
    const int64_t lengths[2] = {1, 1};
    const int64_t displs[2] = {0, displace(0, static_cast<uint64_t>(s.full_blocks), period)};
    const Type *both[2] = {full.get(), rest.get()};
    UCD_TRY(create_struct(2, lengths, displs, both, parts));
    parts->combiner = Combiner::darray;
    child = parts.get();
    return success;
}

} // namespace

Status create_darray(int size, int rank, int ndims, const int64_t *gsizes, const int *distribs,
                     const int64_t *dargs, const int *psizes, int order, const Type &child,
                     TypeOwner &type) {
    if (size < 1) return fail(UCD_ERR__INVALID_ARG, "size is %d; it must be >= 1", size);
    if (rank < 0 || rank >= size)
        return fail(UCD_ERR__INVALID_ARG, "rank is %d; it must be in 0 .. size - 1 = %d", rank,
                    size - 1);
    UCD_TRY(check_dims(ndims, 1));
    UCD_TRY(array_present(gsizes, ndims, "gsizes"));
    UCD_TRY(array_present(distribs, ndims, "distribs"));
    UCD_TRY(array_present(dargs, ndims, "dargs"));
    UCD_TRY(array_present(psizes, ndims, "psizes"));
    UCD_TRY(check_order(order));
    int64_t processes = 1;
    for (int i = 0; i < ndims; ++i) {
        if (gsizes[i] < 0) return bad("gsizes", i, gsizes[i], "it must be >= 0");
        if (psizes[i] < 1) return bad("psizes", i, psizes[i], "it must be >= 1");
        processes = std::min<int64_t>(processes * psizes[i], INT32_MAX);
    }
    if (processes != size)
        return fail(UCD_ERR__INVALID_ARG, "size is %d; it must be the product of psizes", size);
    // The process grid is always in C order, whatever the order of the array (MPI-4.1 5.1.4).
    std::vector<ProcessShare> shares(static_cast<std::size_t>(ndims));
    int coordinates = rank;
    for (int i = ndims - 1; i >= 0; --i) {
        UCD_TRY(share_of(i, gsizes[i], distribs[i], dargs[i], psizes[i], coordinates % psizes[i],
                         shares[static_cast<std::size_t>(i)]));
        coordinates /= psizes[i];
    }
    const bool empty = is_empty(ndims, gsizes);
    Levels levels;
    TypeOwner parts;
    const Type *inner = &child;
    int128 bytes = empty ? 0 : child.extent(), shift = 0;
    for (int k = 0; k < ndims; ++k) {
        const int d = dimension(order, ndims, k);
        const ProcessShare &s = shares[static_cast<std::size_t>(d)];
        shift += bytes * s.first;
        UCD_TRY(distribute(levels, inner, parts, empty ? nothing : s, static_cast<int64_t>(bytes)));
        UCD_TRY(grow(bytes, gsizes[d]));
    }
    NestOwner t(new NestType(Combiner::darray, *inner));
    t->levels = std::move(levels);
    std::vector<int64_t> &arguments = t->arguments;
    arguments = {size, rank, ndims};
    arguments.insert(arguments.end(), gsizes, gsizes + ndims);
    arguments.insert(arguments.end(), distribs, distribs + ndims);
    arguments.insert(arguments.end(), dargs, dargs + ndims);
    arguments.insert(arguments.end(), psizes, psizes + ndims);
    arguments.push_back(order);
    return finish_array(std::move(t), shift, &bytes, type);
}

Status create_ndarray(int ndims, const int64_t *shape, const int64_t *byte_strides,
                      const Type &child, TypeOwner &type) {
    UCD_TRY(check_dims(ndims, 0));
    UCD_TRY(array_present(shape, ndims, "shape"));
    UCD_TRY(array_present(byte_strides, ndims, "byte_strides"));
    for (int i = 0; i < ndims; ++i)
        if (shape[i] < 0) return bad("shape", i, shape[i], "it must be >= 0");
    NestOwner t(new NestType(Combiner::ndarray, child));
    for (int i = ndims - 1; i >= 0; --i) t->levels.push_back({shape[i], byte_strides[i]});
    return finish_nest(std::move(t), type);
}

} // namespace ucd
