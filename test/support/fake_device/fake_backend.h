// A backend "mock", which plays a GPU's: see fake_driver.h for its devices and for what tests can
// make them do. It is made like any other, by its line in the registry, and serves as an example of
// one.
#pragma once

#include "backend.h"

namespace ucd {

Owner<Backend> create_mock_backend();

} // namespace ucd
