// All backends by name, whether they are available or not.
#pragma once

#include "backend.h"

#include <span>
#include <string>

namespace ucd {

struct RegistryEntry {
    const char *name;
    // Returns null and sets the reason if the backend is not available.
    Owner<Backend> (*open)(std::string &reason);
};

std::span<const RegistryEntry> registry();

} // namespace ucd
