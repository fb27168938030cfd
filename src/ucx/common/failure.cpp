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
    const char *const sentence = ucd_base::without_function(ucd_last_error());
    // Types are duplicated to be kept, and there the argument has another name.
    constexpr const char duplicated[] = "oldtype ";
    const bool renamed = std::strncmp(sentence, duplicated, std::strlen(duplicated)) == 0;
    return fail(code, "%s", sentence + (renamed ? std::strlen("old") : 0));
}

Status of_argument(const char *prefix, Status failed) {
    const char *const text = last_error.text;
    if (std::strncmp(text, "type ", 5) != 0 && std::strncmp(text, "count ", 6) != 0) return failed;
    const ucd_base::LastError without = last_error;
    return fail(failed.code(), "%s%s", prefix, without.text);
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
