// Structs of the public interface that begin with struct_size.
#pragma once

#include "common/failure.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ucd_ucx {

// Copies a struct that a program passes. One that was built with an earlier header has fewer
// members; further members of a later one must be 0, since they would ask for something unknown.
template <class Struct>
Status read_sized(const Struct *from, const char *argument, Struct &known) {
    UCD_TRY(require(from, argument));
    const std::size_t size = from->struct_size;
    if (size < sizeof from->struct_size)
        return fail(UCD_ERR__INVALID_ARG,
                    "%s->struct_size is %zu; it must be the size of the struct", argument, size);
    if (size == sizeof known) [[likely]] { // needs no call of memcpy
        known = *from;
        return success;
    }
    known = {};
    std::memcpy(&known, from, std::min(size, sizeof known));
    const auto *const bytes = reinterpret_cast<const unsigned char *>(from);
    for (std::size_t i = sizeof known; i < size; ++i)
        if (bytes[i] != 0)
            return fail(UCD_ERR__INVALID_ARG,
                        "%s has members that this version does not know; they must be 0", argument);
    return success;
}

} // namespace ucd_ucx
