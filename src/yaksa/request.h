#pragma once

#include <ucd-yaksa/yaksa.h>
#include <ucd.h>

namespace ucd_yaksa {

// The handle of work that libucd has started; YAKSA_REQUEST__NULL if it is complete already. If
// there are too many handles, waits for the work.
int add_request(ucd_request_t started, yaksa_request_t *request);

// When no other thread is in the library.
void complete_all_requests();

} // namespace ucd_yaksa
