#include "failure.h"

#include <cstdarg>
#include <cstdio>
#include <string>

namespace ucd_yaksa {
namespace {

thread_local char message[512];

} // namespace

int fail(int code, const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return code;
}

int from_ucd(int rc) {
    switch (rc) {
    case UCD_SUCCESS: return YAKSA_SUCCESS;
    case UCD_ERR__OUT_OF_MEM: return fail(YAKSA_ERR__OUT_OF_MEM, "%s", ucd_last_error());
    case UCD_ERR__NOT_SUPPORTED: return fail(YAKSA_ERR__NOT_SUPPORTED, "%s", ucd_last_error());
    default: return fail(YAKSA_ERR__INTERNAL, "%s", ucd_last_error());
    }
}

const char *last_failure() {
    return message;
}

void prefix_failure(const char *function) {
    const std::string rest = message;
    std::snprintf(message, sizeof message, "%s: %s", function, rest.c_str());
}

} // namespace ucd_yaksa

const char *ucd_yaksa_last_error(void) {
    return ucd_yaksa::last_failure();
}
