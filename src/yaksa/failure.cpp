#include "failure.h"

#include <cstdarg>
#include <cstring>

namespace ucd_yaksa {
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

int yaksa_code(int code) {
    switch (code) {
    case UCD_SUCCESS: return YAKSA_SUCCESS;
    case UCD_ERR__OUT_OF_MEM: return YAKSA_ERR__OUT_OF_MEM;
    case UCD_ERR__NOT_SUPPORTED: return YAKSA_ERR__NOT_SUPPORTED;
    default: return YAKSA_ERR__INTERNAL;
    }
}

int from_ucd(int rc) {
    return rc == UCD_SUCCESS
               ? YAKSA_SUCCESS
               : fail(yaksa_code(rc), "%s", ucd_base::without_function(ucd_last_error()));
}

const char *last_failure() {
    return message.text;
}

// The name is without the prefix that a build may give to functions: in the caller's source it has
// none.
void prefix_failure(const char *function) {
    ucd_base::prefix_message(message, std::strstr(function, "yaksa_"));
}

} // namespace ucd_yaksa

const char *ucd_yaksa_last_error(void) {
    return ucd_yaksa::last_failure();
}
