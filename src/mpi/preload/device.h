// Device memory that the host cannot read. Data there is packed on the device and given to MPI
// there, or staged through host memory.
#pragma once

#include <atomic>
#include <string>

namespace ucd_mpi {

struct NamedDevice {
    std::string name;          // as in the hints of ucd.h
    bool mpi_reads_it = false; // MPI itself moves contiguous data in its memory
};

// This says whether the library packs data of a device's memory, and where.
struct DeviceRoute {
    const NamedDevice *device = nullptr; // null: the data is not in device memory, or left to MPI
    bool stays_there = false; // packed in the device's memory, which MPI reads; else in pinned
                              // memory of the host
    bool left_to_mpi = false; // data in device memory that MPI reads
    explicit operator bool() const { return device != nullptr; }
};

// Whether a GPU backend is available; if not, buffers are not looked up. The first call initialises
// libucd, but no GPU driver; later ones cost one load.
enum class Devices : int { unknown, none, some };
extern std::atomic<Devices> devices_found;
bool look_for_devices();
inline bool has_devices() {
    const Devices found = devices_found.load(std::memory_order_acquire);
    return found == Devices::some || (found == Devices::unknown && look_for_devices());
}

// The device that owns the memory at an address; the address may be any. Null if the host can read
// it: pageable, pinned and managed memory, and all memory as long as the process has initialised no
// GPU driver. The result stays valid until the process ends.
const NamedDevice *device_of(const void *address);
// Whether device_of has found a device yet.
bool uses_devices();

// Whether buffers may be in device memory that is taken for host memory: MPI reads such memory, a
// GPU driver is loaded, and libucd has no backend for it.
bool has_unknown_devices();

} // namespace ucd_mpi
