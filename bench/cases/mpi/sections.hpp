// What ucd-mpi-bench measures, each for messages of so many bytes.
#pragma once

#include <string>
#include <vector>

namespace bench {

using Sizes = std::vector<int>;

// MPI_Pack and MPI_Unpack, once each.
void pack_section(const Sizes &sizes);
// There and back, of two processes.
void ping_pong_section(const Sizes &sizes);
// Both, for the layouts of ucd-bench's tables, which have sizes of their own.
void table_section();
// MPI_Bcast, MPI_Allgather and MPI_Alltoall of each layout, and a transposed matrix by
// MPI_Alltoallw. The bytes are those for one process.
void collective_section(const Sizes &sizes);
// The six faces of a cube; the bytes are those of a face.
void halo_section(const Sizes &sizes);
// Ping-pong and MPI_Alltoall with data in a device's memory, beside what users write themselves.
// False if there is no such device.
bool device_section(const std::string &device, const Sizes &sizes);

} // namespace bench
