// What ucd-mpi-bench measures, each for messages of so many bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

using Sizes = std::vector<int>;

// The median seconds of one call of each of `compared`: of packing and unpacking, of a message
// there and back between two processes, of messages in both directions at once by nonblocking
// calls, and of MPI_Alltoall.
class MpiLayout;
std::vector<double> time_pack(const MpiLayout &l);
std::vector<double> time_ping_pong(const MpiLayout &l);
std::vector<double> time_exchange(const MpiLayout &l);
std::vector<double> time_alltoall(const MpiLayout &l);

// MPI_Pack and MPI_Unpack, once each.
void pack_section(const Sizes &sizes);
// There and back, of two processes.
void ping_pong_section(const Sizes &sizes);
// Both, for the layouts of ucd-bench's tables, which have sizes of their own.
void table_section();
// The exchanges of three programs, with sizes of their own: halo columns of a 2-D grid, slabs of a
// Fourier transform, particles in a new list for each message. Of two processes.
void program_section();
// There and back with a type that is made anew for each round, and freed after it.
void fresh_section(const Sizes &sizes);
// MPI_Bcast, MPI_Allgather and MPI_Alltoall of each layout, and a transposed matrix by
// MPI_Alltoallw. The bytes are those for one process.
void collective_section(const Sizes &sizes);
// The six faces of a cube; the bytes are those of a face.
void halo_section(const Sizes &sizes);
// Makes this process' device of the list current. To be called before MPI_Init.
void use_device(const std::string &devices);
// Ping-pong, an exchange and MPI_Alltoall with data in the memory of devices, beside what users
// write themselves. `devices` is a list with commas; the processes take one after the other. `only`
// names one section. False if there is no such device.
bool device_section(const std::string &devices, const std::string &only, const Sizes &sizes);
// Measures what libucd-mpi-preload's table of this MPI library needs, and writes its rows to a
// file. Processes must run with UCD_MPI_ALWAYS=1. False if that fails.
bool write_tuning(const std::string &path);
// Does the same for data in the memory of devices that the MPI library reads.
bool write_device_tuning(const std::string &devices, const std::string &path);

} // namespace bench
