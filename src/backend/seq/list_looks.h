// Examines lists of numbers before a type is made from them, or before data is moved by them.
#pragma once

#include "host_functions.h"

namespace ucd::seq {

// These are compiled for each instruction set, like the kernels.
struct ListLooks {
    // See copy_list(); looks at the list in the same pass.
    CopiedList (*copy)(const int64_t *list, std::size_t count, int64_t origin, int64_t unit,
                       int64_t *to);
    BlocksLook (*blocks)(const int64_t *displs, const int64_t *lengths, std::size_t count);
};

// The functions for the fastest instruction set of this machine.
const ListLooks &list_looks();

} // namespace ucd::seq
