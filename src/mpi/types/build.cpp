#include "types/build.h"

#include "types/failure.h"
#include "types/predefined.h"

namespace ucd_mpi {
namespace {

// Reads numbers from the front.
class Numbers {
public:
    explicit Numbers(const std::vector<std::intptr_t> &numbers)
        : at_(numbers.data()), end_(at_ + numbers.size()) {}
    std::intptr_t one() { return at_ < end_ ? *at_++ : (short_ = true, 0); }
    const std::intptr_t *list(std::intptr_t entries) {
        if (entries < 0 || entries > end_ - at_) {
            short_ = true;
            return at_;
        }
        const std::intptr_t *const first = at_;
        at_ += entries;
        return first;
    }
    std::vector<int> ints(std::intptr_t entries) {
        const std::intptr_t *const first = list(entries);
        return short_ ? std::vector<int>() : std::vector<int>(first, first + entries);
    }
    bool fit() const { return !short_ && at_ == end_; }

private:
    const std::intptr_t *at_, *end_;
    bool short_ = false; // more was read than there is
};

int order_of(std::intptr_t order) {
    return order == MPI_ORDER_C ? UCD_ORDER__C : UCD_ORDER__FORTRAN;
}

int distribution_of(int distribution) {
    return distribution == MPI_DISTRIBUTE_BLOCK    ? UCD_DISTRIBUTE__BLOCK
           : distribution == MPI_DISTRIBUTE_CYCLIC ? UCD_DISTRIBUTE__CYCLIC
                                                   : UCD_DISTRIBUTE__NONE;
}

int unreadable(int combiner) {
    return fail(UCD_ERR__NOT_SUPPORTED, "MPI gave other arguments of combiner %d than expected",
                combiner);
}

int build_subarray(Numbers numbers, ucd_type_t old, ucd_type_t &type) {
    const std::intptr_t ndims = numbers.one();
    const std::intptr_t *const sizes = numbers.list(ndims);
    const std::intptr_t *const subsizes = numbers.list(ndims);
    const std::intptr_t *const starts = numbers.list(ndims);
    const std::intptr_t order = numbers.one();
    if (!numbers.fit()) return unreadable(MPI_COMBINER_SUBARRAY);
    return ucd_ok(ucd_create_subarray(static_cast<int>(ndims), sizes, subsizes, starts,
                                      order_of(order), old, UCD_INFO__NULL, &type));
}

int build_darray(Numbers numbers, ucd_type_t old, ucd_type_t &type) {
    const std::intptr_t size = numbers.one(), rank = numbers.one(), ndims = numbers.one();
    const std::intptr_t *const gsizes = numbers.list(ndims);
    std::vector<int> distribs = numbers.ints(ndims);
    const std::intptr_t *const given = numbers.list(ndims);
    const std::vector<int> psizes = numbers.ints(ndims);
    const std::intptr_t order = numbers.one();
    if (!numbers.fit()) return unreadable(MPI_COMBINER_DARRAY);
    for (int &distribution : distribs) distribution = distribution_of(distribution);
    std::vector<std::intptr_t> dargs(given, given + ndims);
    for (std::intptr_t &darg : dargs)
        if (darg == MPI_DISTRIBUTE_DFLT_DARG) darg = UCD_DISTRIBUTE__DFLT_DARG;
    return ucd_ok(ucd_create_darray(static_cast<int>(size), static_cast<int>(rank),
                                    static_cast<int>(ndims), gsizes, distribs.data(), dargs.data(),
                                    psizes.data(), order_of(order), old, UCD_INFO__NULL, &type));
}

// The members of struct { value; index; }. An integer is aligned to its size.
int build_pair(const std::vector<ucd_type_t> &members, ucd_type_t &type) {
    if (members.size() != 2) return unreadable(MPI_COMBINER_STRUCT);
    std::intptr_t lb = 0, value = 0, index = 0;
    UCD_TRY(ucd_ok(ucd_get_extent(members[0], &lb, &value)));
    UCD_TRY(ucd_ok(ucd_get_extent(members[1], &lb, &index)));
    if (index == 0) return unreadable(MPI_COMBINER_STRUCT);
    const std::intptr_t ones[] = {1, 1}, displs[] = {0, (value + index - 1) / index * index};
    return ucd_ok(ucd_create_struct(2, ones, displs, members.data(), UCD_INFO__NULL, &type));
}

// For elements that no UCD type represents.
int build_bytes(MPI_Datatype datatype, ucd_type_t &type) {
    std::uintptr_t size = 0;
    Bounds bounds;
    UCD_TRY(read_size(datatype, size));
    UCD_TRY(read_true_bounds(datatype, bounds));
    if (size != 0 && (bounds.lb != 0 || bounds.extent != static_cast<std::intptr_t>(size)))
        return fail(UCD_ERR__NOT_SUPPORTED, "a predefined type of %zu bytes is not known",
                    static_cast<std::size_t>(size));
    return ucd_ok(
        ucd_create_contig(static_cast<std::intptr_t>(size), UCD_TYPE__BYTE, UCD_INFO__NULL, &type));
}

} // namespace

int build_predefined(MPI_Datatype datatype, const Contents &contents, ucd_type_t &type) {
    ucd_type_t element = UCD_TYPE__NULL;
    std::uintptr_t size = 0;
    UCD_TRY(read_size(datatype, size));
    const auto bytes = static_cast<long long>(size);
    switch (contents.combiner) {
    case MPI_COMBINER_F90_INTEGER: element = integer_of(bytes); break;
    case MPI_COMBINER_F90_REAL: element = real_of(bytes); break;
    case MPI_COMBINER_F90_COMPLEX: element = complex_of(bytes); break;
    default: element = find_predefined(datatype);
    }
    if (element == UCD_TYPE__NULL) return build_bytes(datatype, type);
    return ucd_ok(ucd_create_dup(element, UCD_INFO__NULL, &type));
}

int build_derived(const Contents &contents, const std::vector<ucd_type_t> &children,
                  ucd_type_t &type) {
    const int combiner = contents.combiner;
    Numbers numbers(contents.numbers);
    if (combiner == MPI_COMBINER_STRUCT) {
        const std::intptr_t count = numbers.one();
        const std::intptr_t *const blocklengths = numbers.list(count);
        const std::intptr_t *const displs = numbers.list(count);
        if (!numbers.fit() || children.size() != static_cast<std::size_t>(count))
            return unreadable(combiner);
        return ucd_ok(
            ucd_create_struct(count, blocklengths, displs, children.data(), UCD_INFO__NULL, &type));
    }
    if (is_pair(combiner)) return build_pair(children, type);
    if (children.size() != 1) return unreadable(combiner);
    const ucd_type_t old = children.front();
    if (combiner == MPI_COMBINER_SUBARRAY) return build_subarray(numbers, old, type);
    if (combiner == MPI_COMBINER_DARRAY) return build_darray(numbers, old, type);
    if (combiner == MPI_COMBINER_DUP) return ucd_ok(ucd_create_dup(old, UCD_INFO__NULL, &type));
    if (combiner == MPI_COMBINER_RESIZED) {
        const std::intptr_t lb = numbers.one(), extent = numbers.one();
        if (!numbers.fit()) return unreadable(combiner);
        return ucd_ok(ucd_create_resized(old, lb, extent, UCD_INFO__NULL, &type));
    }

    const std::intptr_t count = numbers.one();
    switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        if (!numbers.fit()) break;
        return ucd_ok(ucd_create_contig(count, old, UCD_INFO__NULL, &type));
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: {
        const std::intptr_t blocklength = numbers.one(), stride = numbers.one();
        if (!numbers.fit()) break;
        const auto create =
            combiner == MPI_COMBINER_VECTOR ? ucd_create_vector : ucd_create_hvector;
        return ucd_ok(create(count, blocklength, stride, old, UCD_INFO__NULL, &type));
    }
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED: {
        const std::intptr_t *const blocklengths = numbers.list(count);
        const std::intptr_t *const displs = numbers.list(count);
        if (!numbers.fit()) break;
        const auto create =
            combiner == MPI_COMBINER_INDEXED ? ucd_create_indexed : ucd_create_hindexed;
        return ucd_ok(create(count, blocklengths, displs, old, UCD_INFO__NULL, &type));
    }
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK: {
        const std::intptr_t blocklength = numbers.one();
        const std::intptr_t *const displs = numbers.list(count);
        if (!numbers.fit()) break;
        const auto create = combiner == MPI_COMBINER_INDEXED_BLOCK ? ucd_create_indexed_block
                                                                   : ucd_create_hindexed_block;
        return ucd_ok(create(count, blocklength, displs, old, UCD_INFO__NULL, &type));
    }
    default: return fail(UCD_ERR__NOT_SUPPORTED, "combiner %d is not known", combiner);
    }
    return unreadable(combiner);
}

} // namespace ucd_mpi
