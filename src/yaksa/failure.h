// Failures in libucd-yaksa: yaksa's codes, with a message.
#pragma once

#include "failures.h"

#include <ucd-yaksa/yaksa.h>
#include <ucd.h>
#include <utility>

namespace ucd_yaksa {

static_assert(YAKSA_SUCCESS == 0 && UCD_SUCCESS == 0, "as UCD_TRY takes codes");

// Sets the message for ucd_yaksa_last_error and returns the code.
[[gnu::format(printf, 2, 3)]] int fail(int code, const char *format, ...);
// The yaksa code for a code of ucd.h.
int yaksa_code(int code);
// Same, for the status of a call of libucd; libucd's message becomes that of libucd-yaksa.
int from_ucd(int rc);

const char *last_failure();
void prefix_failure(const char *function);

// Runs a function of the interface: exceptions become codes, and the function's name is put before
// messages.
template <class Body>
int guarded(const char *function, Body &&body) noexcept {
    const int rc =
        ucd_base::without_exceptions(std::forward<Body>(body), [](int code, const char *message) {
            return fail(yaksa_code(code), "%s", message);
        });
    if (rc != YAKSA_SUCCESS) [[unlikely]]
        prefix_failure(function);
    return rc;
}

} // namespace ucd_yaksa
