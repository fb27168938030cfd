// The result of an operation that can fail, and the message of the last failure.
#pragma once

#include "failures.h"

#include <ucd.h>

#include <cstdarg>

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

using ucd_base::LastError;
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
    ucd_base::set_message(last_error(), format, args);
    va_end(args);
    return Status(code);
}

[[gnu::cold]] inline void prefix_last_error(const char *prefix) {
    ucd_base::prefix_message(last_error(), prefix);
}

} // namespace ucd
