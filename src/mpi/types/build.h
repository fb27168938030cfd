// Builds one UCD type from the contents of an MPI datatype.
#pragma once

#include "types/contents.h"

#include <ucd.h>

#include <vector>

namespace ucd_mpi {

// Both create a type that the caller frees. Its bounds may differ from MPI's.
int build_predefined(MPI_Datatype datatype, const Contents &contents, ucd_type_t &type);
// `children` are the UCD types of contents.types.
int build_derived(const Contents &contents, const std::vector<ucd_type_t> &children,
                  ucd_type_t &type);

} // namespace ucd_mpi
