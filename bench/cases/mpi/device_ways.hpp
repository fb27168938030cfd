// This chooses how libucd-mpi-preload passes data in device memory to MPI.
#pragma once

#include "harness/mpi/turns.hpp"

namespace bench {

bool mpi_reads_devices();

// The ways of libucd-mpi-preload, in its order, and what it chooses itself.
enum DeviceWay : int { chosen = -1, on_device, on_host, by_mpi };

// Sets the way of all later calls.
void set_way(DeviceWay way);
// Sets it before each call.
Way by_way(DeviceWay way, const Way &typed);

} // namespace bench
