// The guard of the C interface: functions return statuses, and no exception leaves them.
#pragma once

#include "exception_status.h"
#include "status.h"
#include "support/log.h"
#include "transfer/context.h"

#include <cstring>
#include <type_traits>

namespace ucd {

// Runs `body`, which returns a Status. If it takes the running library's context, requires that the
// library runs. If it fails, prefixes the message with `function`.
template <class Body>
[[gnu::always_inline]] inline int guard(const char *function, ucd_info_t info,
                                        const Body &body) noexcept {
    const Status status = without_exceptions([&]() __attribute__((always_inline))->Status {
        if constexpr (std::is_invocable_v<const Body &, Context &>) {
            Context *context;
            UCD_TRY(current(context, info));
            return body(*context);
        } else {
            return body();
        }
    });
    if (status.ok()) [[likely]]
        return UCD_SUCCESS;
    prefix_last_error(function);
    if (logs(LogLevel::error)) log_line("%s", last_error().text);
    return status.code();
}
template <class Body>
[[gnu::always_inline]] inline int guard(const char *function, const Body &body) noexcept {
    return guard(function, UCD_INFO__NULL, body);
}

template <class T>
Status require(const T *pointer, const char *argument) {
    if (pointer == nullptr) [[unlikely]]
        return fail(UCD_ERR__INVALID_ARG, "%s is NULL; it must not be", argument);
    return success;
}

// Copies a text to the caller's buffer `to`, which `what` names, and sets *needed to the room for
// it. Room 0 asks for that only. A null `text` needs none.
inline Status copy_text(const char *text, const char *what, char *to, uintptr_t room,
                        uintptr_t *needed) {
    if (room > 0) UCD_TRY(require(to, what));
    *needed = text == nullptr ? 0 : std::strlen(text) + 1;
    if (room > 0 && room < *needed)
        return fail(UCD_ERR__TRUNCATED, "%s_size is %ju; the %s needs %ju bytes", what,
                    static_cast<uintmax_t>(room), what, static_cast<uintmax_t>(*needed));
    if (room > 0 && text != nullptr) std::memcpy(to, text, *needed);
    return success;
}

// For an argument that is a list with so many entries.
template <class T>
Status require_list(const T *list, uintptr_t count, const char *argument) {
    if (count > 0) UCD_TRY(require(list, argument));
    if (count <= INTPTR_MAX) [[likely]]
        return success;
    return fail(UCD_ERR__INVALID_ARG, "count is %s; no list has so many entries",
                ucd_base::CountText(count).text);
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
