#pragma once

#include <ucd-yaksa/yaksa.h>
#include <ucd.h>

namespace ucd_yaksa {

// Sets a handle for work that libucd has started; YAKSA_REQUEST__NULL if the work is complete.
// Waits for the work if the table of handles is full.
int add_request(ucd_request_t started, yaksa_request_t *request);

// To be called when no other thread uses the library.
void complete_all_requests();

} // namespace ucd_yaksa
