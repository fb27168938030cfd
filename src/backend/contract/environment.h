// Environment variables.
#pragma once

#include <cstdlib>

namespace ucd {

// The value, or null. Nothing is read in a program that has more rights than who started it
// (set-user-id, set-group-id, file capabilities): a variable could name a library to load, or say
// something of memory that is not true.
inline const char *environment_variable(const char *name) {
    return ::secure_getenv(name);
}

} // namespace ucd
