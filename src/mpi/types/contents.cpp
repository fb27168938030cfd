#include "types/contents.h"

#include "types/failure.h"

namespace ucd_mpi {

#if MPI_VERSION >= 4

namespace {

// MPI returns large counts after all other numbers. In the C binding of two constructors, they come
// between others.
void put_in_order(Contents &contents, std::size_t ints) {
    std::vector<std::intptr_t> &n = contents.numbers;
    const std::vector<std::intptr_t> all = n;
    const auto part = [&](std::size_t from, std::size_t to) {
        n.insert(n.end(), all.begin() + static_cast<std::ptrdiff_t>(from),
                 all.begin() + static_cast<std::ptrdiff_t>(to));
    };
    n.clear();
    if (contents.combiner == MPI_COMBINER_SUBARRAY) { // the ints are ndims and order
        part(0, 1);
        part(ints, all.size());
        part(1, ints);
    } else if (contents.combiner == MPI_COMBINER_DARRAY) { // gsizes come after size, rank and ndims
        part(0, 3);
        part(ints, all.size());
        part(3, ints);
    } else {
        part(0, all.size());
    }
}

} // namespace

int read_envelope(MPI_Datatype datatype, Envelope &envelope) {
    MPI_Count ni = 0, na = 0, nc = 0, nd = 0;
    UCD_TRY(mpi_ok(PMPI_Type_get_envelope_c(datatype, &ni, &na, &nc, &nd, &envelope.combiner),
                   "MPI_Type_get_envelope_c"));
    envelope.numbers = static_cast<std::uint64_t>(ni + na + nc);
    envelope.types = static_cast<std::uint64_t>(nd);
    return UCD_SUCCESS;
}

int read_contents(MPI_Datatype datatype, Contents &contents) {
    MPI_Count ni = 0, na = 0, nc = 0, nd = 0;
    UCD_TRY(mpi_ok(PMPI_Type_get_envelope_c(datatype, &ni, &na, &nc, &nd, &contents.combiner),
                   "MPI_Type_get_envelope_c"));
    if (contents.combiner == MPI_COMBINER_NAMED) return UCD_SUCCESS;
    std::vector<int> ints(static_cast<std::size_t>(ni));
    std::vector<MPI_Aint> addresses(static_cast<std::size_t>(na));
    std::vector<MPI_Count> counts(static_cast<std::size_t>(nc));
    contents.types.resize(static_cast<std::size_t>(nd));
    UCD_TRY(mpi_ok(PMPI_Type_get_contents_c(datatype, ni, na, nc, nd, ints.data(), addresses.data(),
                                            counts.data(), contents.types.data()),
                   "MPI_Type_get_contents_c"));
    contents.numbers.assign(ints.begin(), ints.end());
    contents.numbers.insert(contents.numbers.end(), addresses.begin(), addresses.end());
    contents.numbers.insert(contents.numbers.end(), counts.begin(), counts.end());
    if (nc != 0) put_in_order(contents, ints.size());
    return UCD_SUCCESS;
}

#else

int read_envelope(MPI_Datatype datatype, Envelope &envelope) {
    int ni = 0, na = 0, nd = 0;
    UCD_TRY(mpi_ok(PMPI_Type_get_envelope(datatype, &ni, &na, &nd, &envelope.combiner),
                   "MPI_Type_get_envelope"));
    envelope.numbers = static_cast<std::uint64_t>(ni) + static_cast<std::uint64_t>(na);
    envelope.types = static_cast<std::uint64_t>(nd);
    return UCD_SUCCESS;
}

int read_contents(MPI_Datatype datatype, Contents &contents) {
    int ni = 0, na = 0, nd = 0;
    UCD_TRY(mpi_ok(PMPI_Type_get_envelope(datatype, &ni, &na, &nd, &contents.combiner),
                   "MPI_Type_get_envelope"));
    if (contents.combiner == MPI_COMBINER_NAMED) return UCD_SUCCESS;
    std::vector<int> ints(static_cast<std::size_t>(ni));
    std::vector<MPI_Aint> addresses(static_cast<std::size_t>(na));
    contents.types.resize(static_cast<std::size_t>(nd));
    UCD_TRY(mpi_ok(PMPI_Type_get_contents(datatype, ni, na, nd, ints.data(), addresses.data(),
                                          contents.types.data()),
                   "MPI_Type_get_contents"));
    contents.numbers.assign(ints.begin(), ints.end());
    contents.numbers.insert(contents.numbers.end(), addresses.begin(), addresses.end());
    return UCD_SUCCESS;
}

#endif

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
