// How a failure becomes a status of a C interface, for all libraries of UCD. The code that detects
// a failure words it. UCD_TRY passes its status on, and the guard of each function of an interface
// turns exceptions into statuses. Each library has a status type and a message of its own.
#pragma once

#include <ucd.h>

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ucd_base {

// ---- statuses -----------------------------------------------------------------------------------

// A status is a class with ok(), or a code of which 0 is success.
constexpr bool succeeded(int code) {
    return code == 0;
}
template <class Status>
constexpr bool succeeded(const Status &status) {
    return status.ok();
}

// ---- messages -----------------------------------------------------------------------------------

// The message of a thread's last failure. What is too long for it is cut off.
struct LastError {
    char text[512];
};

[[gnu::cold]] inline void set_message(LastError &error, const char *format, va_list args) {
    std::vsnprintf(error.text, sizeof error.text, format, args);
}

// Puts `prefix` and a colon before the message.
[[gnu::cold]] inline void prefix_message(LastError &error, const char *prefix) {
    char(&text)[sizeof error.text] = error.text;
    const std::size_t room = sizeof text - 1;
    const std::size_t head = std::min(std::strlen(prefix) + 2, room);
    const std::size_t tail = std::min(std::strlen(text), room - head);
    std::memmove(text + head, text, tail);
    std::memcpy(text, prefix, head - 2);
    std::memcpy(text + head - 2, ": ", 2);
    text[head + tail] = '\0';
}

// The message of libucd without the name of its function, which the user of another library did not
// call.
[[gnu::cold]] inline const char *without_function(const char *message) {
    const char *const colon = std::strstr(message, ": ");
    return colon != nullptr && std::strncmp(message, "ucd_", 4) == 0 ? colon + 2 : message;
}

// A count in a message. One beyond INTPTR_MAX is a negative number that was converted.
struct CountText {
    char text[48];
    [[gnu::cold]] explicit CountText(uintptr_t count) {
        const bool negative = count > INTPTR_MAX;
        std::snprintf(text, sizeof text, negative ? "%jd, or %ju" : "%jd",
                      static_cast<intmax_t>(count), static_cast<uintmax_t>(count));
    }
};

// ---- exceptions ---------------------------------------------------------------------------------

// Returns what fail(code, message) makes of the exception that is being handled, with a code of
// ucd.h; call it in a catch clause only.
template <class Fail>
[[gnu::cold, gnu::noinline]] auto failure_of_exception(const Fail &fail) noexcept {
    constexpr const char *no_memory = "out of memory";
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return fail(UCD_ERR__OUT_OF_MEM, no_memory);
    } catch (const std::length_error &) {
        // Containers throw this for sizes that exceed max_size(), before they call the allocator.
        return fail(UCD_ERR__OUT_OF_MEM, no_memory);
    } catch (const std::system_error &e) {
        // For example of a lock, or of a thread that cannot be started.
        const bool of_memory = e.code() == std::errc::not_enough_memory;
        return fail(of_memory ? UCD_ERR__OUT_OF_MEM : UCD_ERR__INTERNAL,
                    of_memory ? no_memory : e.what());
    } catch (const std::exception &e) {
        return fail(UCD_ERR__INTERNAL, e.what());
    } catch (...) {
        return fail(UCD_ERR__INTERNAL, "an exception that is no std::exception");
    }
}

// Returns what `body` returns, or what `fail` makes of its exception.
template <class Body, class Fail>
[[gnu::always_inline]] inline auto without_exceptions(Body &&body, const Fail &fail) noexcept {
    try {
        return std::forward<Body>(body)();
    } catch (...) {
        return failure_of_exception(fail);
    }
}

} // namespace ucd_base

// Returns the status of `expression` from the function, unless it is a success.
#define UCD_TRY(expression)                                                                        \
    do {                                                                                           \
        if (const auto ucd_try_status = (expression); !::ucd_base::succeeded(ucd_try_status))      \
            [[unlikely]]                                                                           \
            return ucd_try_status;                                                                 \
    } while (0)
