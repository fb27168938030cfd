// Creates the backend, for a plugin or for the registry.
#pragma once

#include "backend.h"
#include "vendor.h"

namespace ucd {

struct Plugin;

namespace UCD_GPU {

Owner<Backend> create_backend();

// What a plugin with this backend answers.
const Plugin &as_plugin();

} // namespace UCD_GPU
} // namespace ucd
