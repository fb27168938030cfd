// Log messages on standard error, as UCD_LOG_LEVEL requests; none by default.
#pragma once

#include "status.h"

#include <atomic>

namespace ucd {

enum class LogLevel : uint8_t {
    off,
    error, // every failure, with the message of ucd_last_error()
    plan,  // also every plan: the layout, and the kernel chosen for it
};

inline std::atomic<LogLevel> log_level{LogLevel::off};

inline bool logs(LogLevel level) {
    return log_level.load(std::memory_order_relaxed) >= level;
}

// Reads UCD_LOG_LEVEL; INVALID_ARG if its value is not a level.
Status read_log_level();

// Writes one line.
[[gnu::format(printf, 1, 2), gnu::cold]] void log_line(const char *format, ...);

} // namespace ucd
