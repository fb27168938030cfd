// Failures in libucd-mpi: statuses of ucd.h, with a message.
#pragma once

#include <ucd.h>

namespace ucd_mpi {

// Sets the message for ucd_mpi_last_error and returns the code.
[[gnu::format(printf, 2, 3)]] int fail(int code, const char *format, ...);
// Passes on the status of a call of libucd; libucd's message becomes that of libucd-mpi.
int ucd_ok(int code);
// The status for the error code of an MPI call, in case its error handler returns.
int mpi_ok(int code, const char *call);

const char *last_failure();
void prefix_failure(const char *function);

} // namespace ucd_mpi

#define UCD_MPI_TRY(expression)                                                                    \
    if (const int code_ = (expression); code_ != UCD_SUCCESS) return code_
