// The result of an operation that can fail, and the message of the last failure.
#pragma once

#include <ucd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace ucd {

class [[nodiscard]] Status {
public:
    constexpr Status() = default;
    constexpr explicit Status(int code) : code_(code) {}
    constexpr bool ok() const { return code_ == UCD_SUCCESS; }
    constexpr int code() const { return code_; }

private:
    int code_ = UCD_SUCCESS;
};

inline constexpr Status success{};

// Each thread has one message.
struct LastError {
    char text[512];
};
using LastErrorOfThread = LastError *(*)();

#if defined(UCD_IN_PLUGIN)
// A backend in a shared object stores its messages in libucd, which sets this pointer; see
// plugin.h.
inline constinit LastErrorOfThread last_error_in_libucd = nullptr;
inline LastError &last_error() {
    return *last_error_in_libucd();
}
#else
inline constinit thread_local LastError last_error_of_thread{};
inline LastError &last_error() {
    return last_error_of_thread;
}
#endif

// The code that detects an error words the message; the API guard adds the function's name as a
// prefix.
[[gnu::format(printf, 2, 3), gnu::cold]] inline Status fail(int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    std::vsnprintf(last_error().text, sizeof LastError::text, format, args);
    va_end(args);
    return Status(code);
}

// Cuts off the end of the message if it becomes too long.
[[gnu::cold]] inline void prefix_last_error(const char *prefix) {
    char(&text)[sizeof LastError::text] = last_error().text;
    const std::size_t room = sizeof text - 1;
    const std::size_t head = std::min(std::strlen(prefix) + 2, room);
    const std::size_t tail = std::min(std::strlen(text), room - head);
    std::memmove(text + head, text, tail);
    std::memcpy(text, prefix, head - 2);
    std::memcpy(text + head - 2, ": ", 2);
    text[head + tail] = '\0';
}

#define UCD_TRY(expression)                                                                        \
    do {                                                                                           \
        if (const ::ucd::Status status_ = (expression); !status_.ok()) [[unlikely]]                \
            return status_;                                                                        \
    } while (0)

} // namespace ucd
