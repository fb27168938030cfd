// Access to environment variables.
#pragma once

#include <cstdlib>

namespace ucd {

// Returns the value, or null. Always null in a program with more privileges than the user who
// started it (set-user-id, set-group-id, file capabilities), because a variable could name a
// library to load, or make false claims about memory.
inline const char *environment_variable(const char *name) {
    return ::secure_getenv(name);
}

} // namespace ucd
