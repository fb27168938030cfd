// Which messages are offered to be read where they are, by measurement (docs/guide/direct.md).
#pragma once

#include <cstdint>

namespace ucd_ucx {

// A line of a table. It suits a message of at least `bytes` bytes (or of ucd.ucx.direct_bytes),
// whose rows have at least the mean length `row` and lie in a range of at most `max_range` bytes. A
// message is offered if one line of its memory's table suits it.
struct DirectLimits {
    uint64_t bytes, row, max_range = UINT64_MAX;
};
// Host memory, which the receiver maps.
inline constexpr DirectLimits limits_if_attached[] = {
    {256 << 10, 2 << 10}, {1 << 20, 256}, {16 << 20, 0}};
inline constexpr DirectLimits limits_on_devices[] = {{64 << 10, 128}, {64 << 10, 0, 2 << 20}};

} // namespace ucd_ucx
