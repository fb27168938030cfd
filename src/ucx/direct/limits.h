// When the receiver reads the data where it is, by measurement (docs/guide/direct.md).
#pragma once

#include <cstdint>

namespace ucd_ucx {

// Shorter messages, and rows that are shorter on average, take other routes, unless the user says
// otherwise.
struct DirectLimits {
    uint64_t bytes, row;
};
inline constexpr DirectLimits limits_if_read = {128 << 10, 4 << 10}; // host, by a system call
inline constexpr DirectLimits limits_if_attached = {128 << 10, 0};   // host, mapped
inline constexpr DirectLimits limits_on_devices = {64 << 10, 128};
// On devices, shorter rows only if all of them lie in a range of this size.
inline constexpr uint64_t max_range_of_short_rows = 2 << 20;

} // namespace ucd_ucx
