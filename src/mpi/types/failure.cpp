#include "types/failure.h"

#include "types/c_mpi.h"

#include <cstdarg>
#include <cstring>

namespace ucd_mpi {
namespace {

thread_local ucd_base::LastError message;

} // namespace

int fail(int code, const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    ucd_base::set_message(message, format, arguments);
    va_end(arguments);
    return code;
}

int ucd_ok(int code) {
    if (code == UCD_SUCCESS) [[likely]]
        return code;
    const char *sentence = ucd_last_error();
    // Removes the name of libucd's function, since the caller did not call that.
    if (code == UCD_ERR__NOT_INITIALIZED) sentence = std::strstr(sentence, ": ") + 2;
    return fail(code, "%s", sentence);
}

int mpi_ok(int code, const char *call) {
    if (code == MPI_SUCCESS) [[likely]]
        return UCD_SUCCESS;
    return fail(UCD_ERR__INTERNAL, "%s failed with error code %d", call, code);
}

const char *last_failure() {
    return message.text;
}

void prefix_failure(const char *function) {
    ucd_base::prefix_message(message, function);
}

} // namespace ucd_mpi
