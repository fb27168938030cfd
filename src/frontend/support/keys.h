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

// The hints that the environment gives: UCD_BACKENDS, UCD_GPU, and so on.
Status hints_from_environment(Info &info);

// Logs each environment variable UCD_* that no part of UCD knows, once in a process. One thread at
// a time may call it.
void log_unknown_variables();

} // namespace ucd
