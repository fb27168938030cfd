/* yaksa.h includes it; MPICH looks for headers in this folder only. */
#include "../../../ucd/include/ucd_prefix.h"
