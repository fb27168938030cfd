// The address of a variable or a function of the MPI library, by its name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <dlfcn.h>

namespace ucd_mpi {

template <std::size_t size>
struct LateName {
    char text[size];
    // NOLINTNEXTLINE(google-explicit-constructor): so that a string is an argument of a template
    consteval LateName(const char (&name)[size]) { std::copy_n(name, size, text); }
};

// Null if there is none. MPI must have been loaded at the first call.
template <LateName name>
void *late_address() {
    static void *const address = dlsym(RTLD_DEFAULT, name.text);
    return address;
}

} // namespace ucd_mpi
