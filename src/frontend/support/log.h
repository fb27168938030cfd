// What UCD_LOG_LEVEL asks to be printed, on standard error; nothing by default.
#pragma once

#include "status.h"

#include <atomic>

namespace ucd {

enum class LogLevel : uint8_t {
    off,
    error, // every failure, as ucd_last_error() words it
    plan,  // and every plan: the layout, and the kernel chosen for it
};

inline std::atomic<LogLevel> log_level{LogLevel::off};

inline bool logs(LogLevel level) {
    return log_level.load(std::memory_order_relaxed) >= level;
}

// Reads the environment; INVALID_ARG if it asks for a level that does not exist.
Status read_log_level();

// One line.
[[gnu::format(printf, 1, 2), gnu::cold]] void log_line(const char *format, ...);

} // namespace ucd
