// The keys of libucd, and the environment variables that begin with UCD_.
#pragma once

#include "support/info.h"

#include <string_view>

namespace ucd {

// Sets one hint. A bad value, and an unknown key that begins with "ucd.", are INVALID_ARG. Keys of
// the libraries on top of libucd, and keys without that prefix, change nothing.
Status set_hint(Info &info, std::string_view key, std::string_view value);

// What ucd.inbuf and ucd.outbuf take; false if it is none of that.
bool parse_location(std::string_view text, LocationHint &hint);

// The name of a backend that is nearest to this one, for messages.
const char *nearest_backend(std::string_view name);

// Sets the hints that the environment gives: UCD_BACKENDS, UCD_GPU, and so on, unless it is to be
// ignored. `info` is that of ucd_init, or null. Logs each variable that is unknown or ignored once
// in a process. One thread at a time may call it.
Status read_environment(const Info *info, Info &environment);

} // namespace ucd
