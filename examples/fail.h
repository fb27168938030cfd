/* How these programs end when something goes wrong: with a line on stderr. */
#ifndef EXAMPLES_FAIL_H
#define EXAMPLES_FAIL_H

#include <ucd_ucx.h>

/* Prints the program's name and the message, and ends the process. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Each returns if all is well. */
void ucd(int rc);
void ucd_ucx(int rc);
void ucx(ucs_status_t status, const char *call);
void *allocated(void *memory); /* of malloc */

#endif
