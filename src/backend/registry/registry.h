// Every backend that this library knows, found or not.
#pragma once

#include "backend.h"

#include <memory>
#include <span>
#include <string>

namespace ucd {

struct RegistryEntry {
    const char *name;
    // Null with the reason, if the backend is not to be had.
    std::unique_ptr<Backend> (*open)(std::string &reason);
};

std::span<const RegistryEntry> registry();

} // namespace ucd
