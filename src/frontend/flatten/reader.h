// Creates types from untrusted bytes: docs/reference/flatten-format.md.
#pragma once

#include "status.h"
#include "types/type.h"

#include <cstddef>
#include <cstdint>

namespace ucd {

// Reads the total size from the header of a flattened type without verifying it. Needs the first 16
// bytes; TRUNCATED if there are fewer.
Status flattened_size(const uint8_t *bytes, std::size_t available, uint64_t &size);

// Returns CORRUPT if the bytes are not a flattened type, NOT_SUPPORTED if their version is newer.
Status unflatten(const uint8_t *bytes, std::size_t count, TypeOwner &type);

} // namespace ucd
