#include "types/contents.h"

#include "types/failure.h"
#include "types/late_constant.h"

#include <algorithm>
#include <iterator>

// dlsym does not find the functions of MPI in a program that contains MPI. These references do;
// they do not find an MPI library that is loaded later.
#if MPI_VERSION >= 4
#pragma weak PMPI_Type_get_envelope_c
#pragma weak PMPI_Type_get_contents_c
#endif

namespace ucd_mpi {

namespace {

// How many arguments a constructor had.
struct Lengths {
    MPI_Count ints = 0, addresses = 0, counts = 0, types = 0; // only MPI 4 has counts
};

// Null if the MPI library has no function of that name. It is looked up when it is first used,
// because one build serves libraries of several versions of MPI, and may be loaded before them.
template <LateName name, class Function>
Function *late_function() {
    return reinterpret_cast<Function *>(late_address<name>());
}

// The functions of MPI 4 for types with large counts.
using GetEnvelope = int(MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *);
using GetContents = int(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int *, MPI_Aint *,
                        MPI_Count *, MPI_Datatype *);

GetEnvelope *get_envelope() {
#if MPI_VERSION >= 4
    if (PMPI_Type_get_envelope_c != nullptr) return PMPI_Type_get_envelope_c;
#endif
    return late_function<"PMPI_Type_get_envelope_c", GetEnvelope>();
}

GetContents *get_contents() {
#if MPI_VERSION >= 4
    if (PMPI_Type_get_contents_c != nullptr) return PMPI_Type_get_contents_c;
#endif
    return late_function<"PMPI_Type_get_contents_c", GetContents>();
}

int read_lengths(MPI_Datatype datatype, Lengths &n, int &combiner) {
    if (auto *const large = get_envelope())
        return mpi_ok(large(datatype, &n.ints, &n.addresses, &n.counts, &n.types, &combiner),
                      "MPI_Type_get_envelope_c");
    int ints = 0, addresses = 0, types = 0;
    UCD_TRY(mpi_ok(PMPI_Type_get_envelope(datatype, &ints, &addresses, &types, &combiner),
                   "MPI_Type_get_envelope"));
    n = {ints, addresses, 0, types};
    return UCD_SUCCESS;
}

int read_arguments(MPI_Datatype datatype, const Lengths &n, int *ints, MPI_Aint *addresses,
                   MPI_Count *counts, MPI_Datatype *types) {
    if (auto *const large = get_contents())
        return mpi_ok(
            large(datatype, n.ints, n.addresses, n.counts, n.types, ints, addresses, counts, types),
            "MPI_Type_get_contents_c");
    return mpi_ok(PMPI_Type_get_contents(datatype, static_cast<int>(n.ints),
                                         static_cast<int>(n.addresses), static_cast<int>(n.types),
                                         ints, addresses, types),
                  "MPI_Type_get_contents");
}

// MPI returns large counts after all other numbers. In the C binding of two constructors, they come
// between others: after ndims of a subarray, and after size, rank and ndims of a darray.
void put_in_order(Contents &contents, std::ptrdiff_t ints) {
    const std::ptrdiff_t before = contents.combiner == MPI_COMBINER_SUBARRAY ? 1
                                  : contents.combiner == MPI_COMBINER_DARRAY ? 3
                                                                             : ints;
    const auto first = contents.numbers.begin();
    std::rotate(first + before, first + ints, contents.numbers.end());
}

} // namespace

int read_envelope(MPI_Datatype datatype, Envelope &envelope) {
    Lengths n;
    UCD_TRY(read_lengths(datatype, n, envelope.combiner));
    envelope.numbers = static_cast<std::uint64_t>(n.ints) +
                       static_cast<std::uint64_t>(n.addresses) +
                       static_cast<std::uint64_t>(n.counts);
    envelope.types = static_cast<std::uint64_t>(n.types);
    return UCD_SUCCESS;
}

int read_contents(MPI_Datatype datatype, Contents &contents) {
    Lengths n;
    UCD_TRY(read_lengths(datatype, n, contents.combiner));
    if (contents.combiner == MPI_COMBINER_NAMED) return UCD_SUCCESS;
    std::vector<int> ints(static_cast<std::size_t>(n.ints));
    std::vector<MPI_Aint> addresses(static_cast<std::size_t>(n.addresses));
    std::vector<MPI_Count> counts(static_cast<std::size_t>(n.counts));
    contents.types.resize(static_cast<std::size_t>(n.types));
    // Nothing may fail once the caller has handles to free.
    contents.numbers.reserve(ints.size() + addresses.size() + counts.size());
    UCD_TRY(read_arguments(datatype, n, ints.data(), addresses.data(), counts.data(),
                           contents.types.data()));
    contents.numbers.assign(ints.begin(), ints.end());
    contents.numbers.insert(contents.numbers.end(), addresses.begin(), addresses.end());
    contents.numbers.insert(contents.numbers.end(), counts.begin(), counts.end());
    if (!counts.empty()) put_in_order(contents, std::ssize(ints));
    return UCD_SUCCESS;
}

int read_bounds(MPI_Datatype datatype, Bounds &bounds) {
    MPI_Count lb = 0, extent = 0;
    UCD_TRY(mpi_ok(PMPI_Type_get_extent_x(datatype, &lb, &extent), "MPI_Type_get_extent_x"));
    bounds = {static_cast<std::intptr_t>(lb), static_cast<std::intptr_t>(extent)};
    return UCD_SUCCESS;
}

int read_true_bounds(MPI_Datatype datatype, Bounds &bounds) {
    MPI_Count lb = 0, extent = 0;
    UCD_TRY(
        mpi_ok(PMPI_Type_get_true_extent_x(datatype, &lb, &extent), "MPI_Type_get_true_extent_x"));
    bounds = {static_cast<std::intptr_t>(lb), static_cast<std::intptr_t>(extent)};
    return UCD_SUCCESS;
}

int read_size(MPI_Datatype datatype, std::uintptr_t &size) {
    MPI_Count bytes = 0;
    UCD_TRY(mpi_ok(PMPI_Type_size_x(datatype, &bytes), "MPI_Type_size_x"));
    size = static_cast<std::uintptr_t>(bytes);
    return UCD_SUCCESS;
}

} // namespace ucd_mpi
