// Failures inside libucd-mpi: statuses of ucd.h with a worded message.
#pragma once

#include <ucd.h>

namespace ucd_mpi {

// Words a failure for ucd_mpi_last_error, and returns the code.
[[gnu::format(printf, 2, 3)]] int fail(int code, const char *format, ...);
// Passes on what a call of libucd returned; libucd's message becomes ours.
int ucd_ok(int code);
// What a call of MPI returned, if its error handler returns at all.
int mpi_ok(int code, const char *call);

const char *last_failure();
void prefix_failure(const char *function);

} // namespace ucd_mpi

#define UCD_MPI_TRY(expression)                                                                    \
    if (const int code_ = (expression); code_ != UCD_SUCCESS) return code_
