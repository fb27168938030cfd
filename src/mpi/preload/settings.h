// What the user wants: UCD_MPI and UCD_MPI_STATS, read when the library is loaded.
#pragma once

namespace ucd_mpi {

struct Settings {
    bool pack = true;     // MPI_Pack, MPI_Unpack and their external forms are taken over
    bool messages = true; // so are messages and collective calls
    bool statistics = false;
};

const Settings &settings();

} // namespace ucd_mpi
