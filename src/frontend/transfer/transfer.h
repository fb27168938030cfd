// What a pack or an unpack is, once its arguments are checked.
#pragma once

#include "types/type.h"

namespace ucd {

// One validated member of a call.
struct Transfer {
    const Type *type = nullptr;
    uint64_t count = 0;
    char *typed = nullptr;  // the address of displacement 0
    char *packed = nullptr; // where stream byte `offset` is or goes
    uint64_t offset = 0, length = 0;
};

} // namespace ucd
