// Calls of small, ordinary arrays.
#pragma once

#include "core/errors.h"

namespace ucdpy {

// Puts quick entries before functions of the module, and gives it `quickened`, which does so for a
// function of Python.
void bind_quick(nb::module_ &m);

} // namespace ucdpy
