#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <ucd.h>

bool complain(const char *format, ...) {
    /* One write per line: several processes share stderr. */
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "halo3d: %s\n", text);
    return false;
}

bool ucd_ok(int rc) {
    if (rc == UCD_SUCCESS) return true;
    return complain("%s (%s)", ucd_last_error(), ucd_strerror(rc));
}
