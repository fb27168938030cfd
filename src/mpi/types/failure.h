// Failures in libucd-mpi: statuses of ucd.h, with a message.
#pragma once

#include "failures.h"

#include <ucd.h>

#include <utility>

namespace ucd_mpi {

// Sets the message for ucd_mpi_last_error and returns the code.
[[gnu::format(printf, 2, 3)]] int fail(int code, const char *format, ...);
// Passes on the status of a call of libucd; libucd's message becomes that of libucd-mpi.
int ucd_ok(int code);
// The status for the error code of an MPI call, in case its error handler returns.
int mpi_ok(int code, const char *call);

const char *last_failure();
void prefix_failure(const char *function);

// Runs a function of the interface: exceptions become codes, and the function's name is put before
// messages.
template <class Body>
int guard(const char *function, Body &&body) noexcept {
    const int code = ucd_base::without_exceptions(
        std::forward<Body>(body),
        [](int failure, const char *message) { return fail(failure, "%s", message); });
    if (code != UCD_SUCCESS) prefix_failure(function);
    return code;
}

} // namespace ucd_mpi
