// Every backend that this library knows, found or not.
#pragma once

#include "backend.h"

#include <span>

namespace ucd {

struct RegistryEntry {
    const char *name;
    Backend *(*create)(); // null: built without it
};

std::span<const RegistryEntry> registry();

} // namespace ucd
