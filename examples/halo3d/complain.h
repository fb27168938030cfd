/* How this program says what went wrong: one line on stderr. */
#ifndef HALO3D_COMPLAIN_H
#define HALO3D_COMPLAIN_H

#include <stdbool.h>

/* Prints "halo3d: ..." and returns false, so that a function can end with it. */
bool complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True if rc is UCD_SUCCESS; else complains with UCD's own sentence. */
bool ucd_ok(int rc);

#endif
