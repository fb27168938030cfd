// Failures in libucd-yaksa: yaksa's codes, with a message.
#pragma once

#include <exception>
#include <new>
#include <ucd-yaksa/yaksa.h>
#include <ucd.h>

namespace ucd_yaksa {

// Sets the message for ucd_yaksa_last_error and returns the code.
[[gnu::format(printf, 2, 3)]] int fail(int code, const char *format, ...);
// The yaksa code for the status of a call of libucd; libucd's message becomes that of libucd-yaksa.
int from_ucd(int rc);

const char *last_failure();
void prefix_failure(const char *function);

// Runs a function of the interface: exceptions become codes, and the function's name is put before
// messages.
template <class Body>
int guarded(const char *function, Body &&body) {
    int rc = YAKSA_SUCCESS;
    try {
        rc = body();
    } catch (const std::bad_alloc &) {
        rc = fail(YAKSA_ERR__OUT_OF_MEM, "no memory");
    } catch (const std::exception &e) {
        rc = fail(YAKSA_ERR__INTERNAL, "%s", e.what());
    }
    if (rc != YAKSA_SUCCESS) [[unlikely]]
        prefix_failure(function);
    return rc;
}

} // namespace ucd_yaksa

#define UCD_YAKSA_TRY(expression)                                                                  \
    if (const int code_ = (expression); code_ != YAKSA_SUCCESS) [[unlikely]]                       \
    return code_
