/* What MPICH includes. ../../../Makefile.am has the same prefix. */
#define UCD_PREFIX mpich_
#define UCD_HIDDEN
#include "../../../ucd/include/ucd-yaksa/yaksa.h"
