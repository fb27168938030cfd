// What decides whether this library moves the data of a type faster than MPI.
#pragma once

#include "preload/tuning.h"
#include "types/convert.h"

#include <cstdint>
#include <optional>

namespace ucd_mpi {

struct TypeFacts {
    std::uintptr_t size = 0;         // of one item, in bytes
    std::uintptr_t mean_segment = 0; // bytes
    std::intptr_t low = 0;           // displacement of the first byte of one item's data
    bool one_is_contiguous = false, several_are_contiguous = false;
    Arrangement arrangement = Arrangement::list;
};

// Nothing if the type has no data.
std::optional<TypeFacts> facts_of(const Converted &converted);

} // namespace ucd_mpi
