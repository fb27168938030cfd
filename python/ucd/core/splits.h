// How the dimensions of a mesh split an axis, and which parts meet.
#pragma once

#include "core/errors.h"

namespace ucdpy {

void bind_splits(nb::module_ &m);

} // namespace ucdpy
