// What is to be known of a list of numbers before its type is made, or before it is moved.
#pragma once

#include "host_lists.h"

namespace ucd::seq {

// Compiled for each instruction set, as kernels are.
struct ListLooks {
    ListReach (*reach)(const int64_t *list, std::size_t count);
    BlocksLook (*blocks)(const int64_t *displs, const int64_t *lengths, std::size_t count);
    // scaled[i] = list[i] * unit, which wraps.
    void (*scale)(const int64_t *list, std::size_t count, int64_t unit, int64_t *scaled);
};

// The fastest that this machine can run.
const ListLooks &list_looks();

} // namespace ucd::seq
