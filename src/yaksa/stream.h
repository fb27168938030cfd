#pragma once

#include <ucd-yaksa/yaksa.h>
#include <ucd.h>

namespace ucd_yaksa {

// Finds libucd's stream for the native stream that `stream` points to.
ucd_stream_t find_stream(const void *stream, yaksa_info_t info);

} // namespace ucd_yaksa
