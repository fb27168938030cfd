// What the packed stream of a type is made of, if it repeats soon.
#pragma once

#include <ucd.h>

#include <cstdint>
#include <vector>

namespace ucd_mpi {

struct Repetition {
    std::vector<ucd_element_run_t> runs; // of the first one
    std::uintptr_t times = 0;            // how often they occur in one item
};

// False if the runs of equal elements do not repeat after a few hundred.
bool find_repetition(ucd_type_t type, Repetition &repetition);

} // namespace ucd_mpi
