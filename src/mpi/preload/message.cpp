#include "preload/message.h"

#include <algorithm>

namespace ucd_mpi {

KnownType *find_to_pack(MPI_Datatype datatype, MPI_Count count) {
    KnownType *const known = find_converted(datatype);
    std::uintptr_t bytes = 0;
    const bool fits =
        known != nullptr &&
        !__builtin_mul_overflow(known->size(), static_cast<std::uintptr_t>(count), &bytes);
    return fits ? known : nullptr;
}

namespace {

// The displacement of one byte of an item's data from the buffer's address.
std::intptr_t some_byte(MPI_Datatype datatype) {
    if (!was_committed(datatype)) return 0; // predefined types have their data at the buffer
    // Some MPI libraries report wrong true bounds; the converted type has the right ones.
    const KnownType *const known =
        uses_devices() ? find_converted(datatype) : find_known(datatype, 0, ExpectedUse::once);
    if (known != nullptr && known->is_converted()) return known->facts().low;
    MPI_Count lb = 0, extent = 0;
    PMPI_Type_get_true_extent_x(datatype, &lb, &extent);
    return static_cast<std::intptr_t>(lb);
}

// MPI copies the message within its process: to the buffer that the user attached, in host memory;
// or to receive in the place of what is sent.
bool copies_by_host(Call call) {
    return call == Call::Bsend || call == Call::Ibsend || call == Call::Bsend_init ||
           call == Call::Sendrecv_replace || call == Call::Isendrecv_replace;
}

// For items on a device. A function of its own, so that items in host memory do not pay for the
// registers that it saves.
[[gnu::noinline]] InDeviceMemory find_route(const NamedDevice *device, Call call,
                                            const void *buffer, MPI_Count count,
                                            MPI_Datatype datatype, int by_parts) {
    KnownType *const known = find_to_pack(datatype, count);
    if (known == nullptr || known->size() == 0) return {};
    const bool contiguous =
        known->facts().several_are_contiguous || (count == 1 && known->facts().one_is_contiguous);
    // MPI libraries that move device memory in messages do not all pack it.
    if (!device->mpi_reads_it || is_packing(call)) return {known, {device}};
    if (copies_by_host(call) && !contiguous) return {known, {device}};
    // MPI looks for a device at the address of the buffer only.
    const bool is_found = known->facts().low == 0 || device_of(buffer) == device;
    constexpr DeviceRoute left = {.left_to_mpi = true};
    if (contiguous && is_found) return {known, left};
    const auto bytes = known->size() * static_cast<std::uintptr_t>(count);
    const DeviceWay way = device_way(known->facts().mean_segment,
                                     bytes / static_cast<std::uintptr_t>(std::max(by_parts, 1)));
    if (way == DeviceWay::mpi && is_found) return {known, left};
    return {known, {device, way != DeviceWay::host && !copies_by_host(call)}};
}

} // namespace

InDeviceMemory find_on_device(Call call, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                              int by_parts) {
    if (count <= 0 || datatype == MPI_DATATYPE_NULL) return {};
    const NamedDevice *const device =
        device_of(reinterpret_cast<const void *>(reinterpret_cast<std::uintptr_t>(buffer) +
                                                 static_cast<std::uintptr_t>(some_byte(datatype))));
    if (device == nullptr) return {};
    return find_route(device, call, buffer, count, datatype, by_parts);
}

InDeviceMemory find_packed_on_device(const void *packed, MPI_Count count, MPI_Datatype datatype) {
    if (count <= 0 || datatype == MPI_DATATYPE_NULL) return {};
    const NamedDevice *const device = device_of(packed);
    if (device == nullptr) return {};
    KnownType *const known = find_to_pack(datatype, count);
    return known != nullptr && known->size() > 0 ? InDeviceMemory{known, {device}}
                                                 : InDeviceMemory{};
}

int raise_error(MPI_Comm comm, int error) {
    PMPI_Comm_call_errhandler(comm, error);
    return error;
}

} // namespace ucd_mpi
