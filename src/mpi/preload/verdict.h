// Whether it paid to read types, for programs that make a type anew for each message. What is
// remembered of a type that is gone is its shape: its size and extent. Types of the same shape may
// differ; then one is read later than it could be, and nothing else happens.
#pragma once

#include "types/c_mpi.h"

#include <cstdint>

namespace ucd_mpi {

using Shape = std::uint64_t;
Shape shape_of(MPI_Datatype datatype, MPI_Count size);

// Any thread, without a lock. Once in a while the answer is no although it is yes, so that wrong
// verdicts are found out.
bool did_not_pay(Shape shape);
void remember_verdict(Shape shape, bool paid);

} // namespace ucd_mpi
