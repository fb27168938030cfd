// What the user wants: UCD_MPI and UCD_MPI_STATS, read when the library is loaded.
#pragma once

namespace ucd_mpi {

struct Settings {
    bool pack = true;           // MPI_Pack and MPI_Unpack are taken over
    bool point_to_point = true; // messages, too
    bool statistics = false;
};

const Settings &settings();

} // namespace ucd_mpi
