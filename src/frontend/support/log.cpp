#include "support/log.h"

#include "environment.h"

#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>

namespace ucd {

Status read_log_level() {
    constexpr std::string_view names[] = {"off", "error", "plan"};
    const char *value = environment_variable("UCD_LOG_LEVEL");
    uint8_t level = 0;
    if (value != nullptr) {
        while (level < std::size(names) && names[level] != value) ++level;
        if (level == std::size(names))
            return fail(UCD_ERR__INVALID_ARG,
                        "UCD_LOG_LEVEL is \"%.40s\"; it must be off, error or plan", value);
    }
    log_level.store(static_cast<LogLevel>(level), std::memory_order_relaxed);
    return success;
}

void log_line(const char *format, ...) {
    // One write for each line, so that lines of different threads do not mix.
    char line[1024];
    va_list args;
    va_start(args, format);
    std::vsnprintf(line, sizeof line, format, args);
    va_end(args);
    std::fprintf(stderr, "ucd: %s\n", line);
}

} // namespace ucd
