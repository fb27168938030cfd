// When the receiver reads the data where it is, by measurement (docs/guide/direct.md).
#pragma once

#include <cstdint>

namespace ucd_ucx {

// A message is offered so if it has at least so many bytes, unless the user says otherwise, in rows
// of at least this mean length, which lie in a range of at most this size; for one line of a table.
struct DirectLimits {
    uint64_t bytes, row, max_range = UINT64_MAX;
};
// Host memory that is read by system calls, where UCX has no shared memory.
inline constexpr DirectLimits limits_if_read[] = {{128 << 10, 4 << 10}};
// Host memory that the receiver has mapped.
inline constexpr DirectLimits limits_if_attached[] = {{256 << 10, 2 << 10}, {1 << 20, 0}};
inline constexpr DirectLimits limits_on_devices[] = {{64 << 10, 128}, {64 << 10, 0, 2 << 20}};

} // namespace ucd_ucx
