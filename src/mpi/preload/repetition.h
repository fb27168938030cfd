// The period of a type's packed stream, in runs of elements.
#pragma once

#include <ucd.h>

#include <cstdint>
#include <vector>

namespace ucd_mpi {

struct Repetition {
    std::vector<ucd_element_run_t> runs; // of one period
    std::uintptr_t times = 0;            // number of periods in one item
};

// False if the runs of equal elements have no period of at most a few hundred runs.
bool find_repetition(ucd_type_t type, Repetition &repetition);

} // namespace ucd_mpi
