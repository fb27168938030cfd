#pragma once

#include <ucd-yaksa/yaksa.h>
#include <ucd.h>

namespace ucd_yaksa {

// The stream that `stream` points to, for libucd.
int find_stream(const void *stream, yaksa_info_t info, ucd_stream_t &found);

} // namespace ucd_yaksa
