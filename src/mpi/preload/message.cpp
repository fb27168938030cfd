#include "preload/message.h"

namespace ucd_mpi {

KnownType *take_anyway(MPI_Datatype datatype, MPI_Count count) {
    KnownType *const known = find_known_or_predefined(datatype);
    std::uintptr_t bytes = 0;
    const bool fits =
        known != nullptr && known->take_anyway(datatype) &&
        !__builtin_mul_overflow(known->size(), static_cast<std::uintptr_t>(count), &bytes);
    return fits ? known : nullptr;
}

OnDevice find_on_device(const void *buffer, MPI_Count count, MPI_Datatype datatype) {
    if (count <= 0 || datatype == MPI_DATATYPE_NULL) return {};
    // Predefined types have their data at the buffer.
    KnownType *const derived = find_known(datatype);
    // Some MPI libraries report wrong true bounds; the converted type has the right ones.
    if (derived != nullptr && uses_devices()) (void)derived->take_anyway(datatype);
    const MPI_Aint displ = derived != nullptr ? derived->some_byte(datatype) : 0;
    const Device *const device = device_of(reinterpret_cast<const void *>(
        reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(displ)));
    if (device == nullptr) return {};
    KnownType *const known = take_anyway(datatype, count);
    if (known == nullptr || known->size() == 0) return {};
    const bool contiguous =
        known->several_are_contiguous() || (count == 1 && known->one_is_contiguous());
    if (device->mpi_reads_it && contiguous) return {};
    return {known, device};
}

OnDevice find_packed_on_device(const void *packed, MPI_Count count, MPI_Datatype datatype) {
    if (count <= 0 || datatype == MPI_DATATYPE_NULL) return {};
    const Device *const device = device_of(packed);
    if (device == nullptr || device->mpi_reads_it) return {};
    KnownType *const known = take_anyway(datatype, count);
    return known != nullptr && known->size() > 0 ? OnDevice{known, device} : OnDevice{};
}

int raise_error(MPI_Comm comm) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

} // namespace ucd_mpi
