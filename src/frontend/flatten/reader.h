// A type from bytes that anyone may have written: docs/reference/flatten-format.md.
#pragma once

#include "status.h"
#include "types/type.h"

#include <cstddef>
#include <cstdint>

namespace ucd {

// What the first bytes of a flattened type say about the number of all of them, unverified. Reads
// the first 16; TRUNCATED if there are fewer.
Status flattened_size(const uint8_t *bytes, std::size_t available, uint64_t &size);

// CORRUPT for bytes that are no flattened type, NOT_SUPPORTED for those of a newer version.
Status unflatten(const uint8_t *bytes, std::size_t count, TypeOwner &type);

} // namespace ucd
