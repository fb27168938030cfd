// Reads the file that UCD_TUNING names, with figures that were measured on a user's devices.
// docs/reference/tuning.md has the format.
#pragma once

#include "plan/copy_engines.h"
#include "status.h"

#include <string_view>

namespace ucd::gpu {

inline constexpr std::size_t max_tuning_bytes = std::size_t{64} * 1024;

// Changes the figures that the device's section sets. INVALID_ARG with the line's number if the
// text is invalid; `file` is for the message.
Status apply_tuning(std::string_view text, const char *file, std::string_view device,
                    CopyEngines &engines);

// The same for the contents of a file. INVALID_ARG if it cannot be read, or is longer than
// max_tuning_bytes.
Status apply_tuning_file(const char *file, std::string_view device, CopyEngines &engines);

} // namespace ucd::gpu
