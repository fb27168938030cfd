// The guard of the C interface: functions return statuses, and no exception leaves them.
#pragma once

#include "status.h"
#include "exception_status.h"
#include "support/log.h"

#include <cstring>
#include <utility>

namespace ucd {

// Runs `body`, which returns a Status. If it fails, prefixes the message with `function`.
template <class Body>
[[gnu::always_inline]] inline int guard(const char *function, Body &&body) noexcept {
    const Status status = without_exceptions(std::forward<Body>(body));
    if (status.ok()) [[likely]]
        return UCD_SUCCESS;
    prefix_last_error(function);
    if (logs(LogLevel::error)) log_line("%s", last_error().text);
    return status.code();
}

template <class T>
Status require(const T *pointer, const char *argument) {
    if (pointer == nullptr) [[unlikely]]
        return fail(UCD_ERR__INVALID_ARG, "%s is NULL; it must not be", argument);
    return success;
}

// Copies a struct to the caller, up to the size that the caller's struct_size states.
template <class Struct>
Status fill_sized(const Struct &filled, Struct *out) {
    const uint32_t size = out->struct_size;
    if (size < sizeof size)
        return fail(UCD_ERR__INVALID_ARG, "struct_size is %u; it must be the size of the struct",
                    size);
    std::memcpy(static_cast<void *>(out), &filled, size < sizeof filled ? size : sizeof filled);
    out->struct_size = size;
    return success;
}

} // namespace ucd
