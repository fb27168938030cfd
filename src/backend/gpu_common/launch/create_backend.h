// Creates the backend, for a plugin or for the registry.
#pragma once

#include "backend.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

std::unique_ptr<Backend> create_backend();

} // namespace ucd::UCD_GPU
