// Memory of devices, which the host cannot read. What is there is staged in host memory.
#pragma once

#include <atomic>
#include <string>

namespace ucd_mpi {

struct Device {
    std::string name;          // as in the hints of ucd.h
    bool mpi_reads_it = false; // MPI moves consecutive bytes of its memory itself
};

// Whether a GPU's backend is there: if not, no buffer is looked at. Costs a load after the first
// time, which initialises libucd, but no GPU driver.
enum class Devices : int { unknown, none, some };
extern std::atomic<Devices> devices_found;
bool look_for_devices();
inline bool has_devices() {
    const Devices found = devices_found.load(std::memory_order_acquire);
    return found == Devices::some || (found == Devices::unknown && look_for_devices());
}

// Null if the host reads the memory: pageable, pinned and managed memory, and all as long as the
// process has initialised no GPU driver. The address may be any. Devices stay until the end.
const Device *device_of(const void *address);
// Whether that has found one yet.
bool uses_devices();

} // namespace ucd_mpi
