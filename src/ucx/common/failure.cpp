#include "common/failure.h"

#include <cstdarg>
#include <cstring>
#include <ucd_ucx.h>

namespace ucd_ucx {
namespace {

thread_local ucd_base::LastError last_error;

} // namespace

Status fail(int code, const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    ucd_base::set_message(last_error, format, arguments);
    va_end(arguments);
    return Status(code);
}

Status ucd_ok(int code) {
    if (code == UCD_SUCCESS) [[likely]]
        return success;
    const char *sentence = ucd_last_error();
    // Leaves out the name of libucd's function, because the user did not call it.
    if (code == UCD_ERR__NOT_INITIALIZED) sentence = std::strstr(sentence, ": ") + 2;
    return fail(code, "%s", sentence);
}

Status ucx_ok(ucs_status_t status, const char *call) {
    if (status == UCS_OK) [[likely]]
        return success;
    const int code = status == UCS_ERR_NO_MEMORY       ? UCD_ERR__OUT_OF_MEM
                     : status == UCS_ERR_UNSUPPORTED   ? UCD_ERR__NOT_SUPPORTED
                     : status == UCS_ERR_INVALID_PARAM ? UCD_ERR__INVALID_ARG
                                                       : UCD_ERR__DEVICE;
    return fail(code, "%s: %s", call, ucs_status_string(status));
}

ucs_status_t ucx_status_of(int code) {
    return code == UCD_SUCCESS           ? UCS_OK
           : code == UCD_ERR__OUT_OF_MEM ? UCS_ERR_NO_MEMORY
                                         : UCS_ERR_IO_ERROR;
}

const char *last_failure() {
    return last_error.text;
}

void prefix_failure(const char *function) {
    ucd_base::prefix_message(last_error, function);
}

} // namespace ucd_ucx

const char *ucd_ucx_last_error(void) {
    return ucd_ucx::last_failure();
}
