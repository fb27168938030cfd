#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void fail(const char *format, ...) {
    char text[700]; /* one write: several processes share stderr */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
    fflush(NULL);
    _Exit(EXIT_FAILURE);
}

void ucd(int rc) {
    if (rc != UCD_SUCCESS) fail("%s (%s)", ucd_last_error(), ucd_strerror(rc));
}

void ucd_ucx(int rc) {
    if (rc != UCD_SUCCESS) fail("%s (%s)", ucd_ucx_last_error(), ucd_strerror(rc));
}

void ucx(ucs_status_t status, const char *call) {
    if (status != UCS_OK) fail("%s: %s", call, ucs_status_string(status));
}

void *allocated(void *memory) {
    if (memory == NULL) fail("no memory");
    return memory;
}
