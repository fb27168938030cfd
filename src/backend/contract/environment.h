// Access to environment variables, and whether they are to be trusted.
#pragma once

#include <sys/auxv.h>

#include <cstdlib>

namespace ucd {

// Whether the kernel says that this program has more rights than the user who started it
// (set-user-id, set-group-id, file capabilities, a security module).
inline bool has_more_rights() {
    return ::getauxval(AT_SECURE) != 0;
}

// Returns the value, or null. Always null in a program with more rights than the user who started
// it, because a variable could name a library to load, or make false claims about memory.
inline const char *environment_variable(const char *name) {
    return ::secure_getenv(name);
}

} // namespace ucd
