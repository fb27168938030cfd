/*
 * The C headers compile alone and repeated, as C11; handles are constants for static initialisers;
 * the ABI is as pinned.
 */
#include <ucd.h>
/* clang-format off */
#include <ucd.h> /* again */
#include <ucd_memory.h>
#include <ucd_memory.h> /* again */
#include "abi_pins.h"
/* clang-format on */

static ucd_request_t no_request = UCD_REQUEST__NULL;
static ucd_info_t no_info = UCD_INFO__NULL;
static ucd_plan_t no_plan = UCD_PLAN__NULL;

int ucd_header_c11(void);

/* The number of handles and initialisers that are not as the ABI fixes them. */
int ucd_header_c11(void) {
    return (no_request != NULL) + (no_info != NULL) + (no_plan != NULL) + wrong_handles() +
           wrong_initialiser();
}
