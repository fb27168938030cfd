// A type from bytes that anyone may have written: docs/reference/flatten-format.md.
#pragma once

#include "status.h"
#include "types/type.h"

#include <cstddef>
#include <cstdint>

namespace ucd {

// CORRUPT for bytes that are no flattened type, NOT_SUPPORTED for those of a newer version.
Status unflatten(const uint8_t *bytes, std::size_t count, TypeOwner &type);

} // namespace ucd
