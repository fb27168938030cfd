#pragma once

#include "core/errors.h"

namespace ucdpy {

void bind_batch(nb::module_ &m);

} // namespace ucdpy
