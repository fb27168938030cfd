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
using LastErrorOfThread = LastError *(*)() noexcept;

// libucd has one for each thread, and so has each plugin. After a failed call of the other one, the
// caller fetches its message (Call in backend.h).
inline constinit thread_local LastError last_error_of_thread{};
inline LastError &last_error() {
    return last_error_of_thread;
}

// The code that detects an error words the message; the API guard adds the function's name as a
// prefix.
[[gnu::format(printf, 2, 3), gnu::cold]] inline Status fail(int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    ucd_base::set_message(last_error(), format, args);
    va_end(args);
    return Status(code);
}

// Takes over the message of a call of a plugin, or of libucd, that has just failed in this thread.
// Within one of the two it is there already.
[[gnu::cold]] inline void fetch_last_error(LastErrorOfThread of_callee) {
    const LastError *const theirs = of_callee();
    if (theirs != &last_error()) last_error() = *theirs;
}

[[gnu::cold]] inline void prefix_last_error(const char *prefix) {
    ucd_base::prefix_message(last_error(), prefix);
}

} // namespace ucd
