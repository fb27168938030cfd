// Whether it paid to read types, for programs that make a type anew for each message. What is
// remembered of a type that is gone is its shape: about its size and extent. Types of one shape may
// differ; then one is read later than it could be, and nothing else happens.
#pragma once

#include "types/c_mpi.h"

#include <ucd.h>

#include <cstdint>
#include <optional>

namespace ucd_mpi {

using Shape = std::uint64_t;
Shape shape_of(MPI_Datatype datatype, MPI_Count size);

// What UCD saves, in nanoseconds, of MPI's time for a message.
struct Gain {
    float per_byte = 0;  // packed or unpacked
    float first_use = 0; // lost by the first calls with a type

    // From how many bytes on it pays to read a type, if reading it takes so long.
    std::uint64_t bytes_to_pay(std::uint64_t nanoseconds) const;
};

// Measured with this type: `type` is what was read of it. Takes as long as a few messages.
Gain measure_gain(MPI_Datatype datatype, ucd_type_t type);

// Any thread, without a lock. Once in a while the answer of did_not_pay is no although it is yes,
// so that wrong verdicts are found out.
bool did_not_pay(Shape shape);
void remember_verdict(Shape shape, bool paid);
std::optional<Gain> known_gain(Shape shape);
void remember_gain(Shape shape, const Gain &gain);

} // namespace ucd_mpi
