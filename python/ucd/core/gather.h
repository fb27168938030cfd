#pragma once

#include "core/errors.h"

namespace ucdpy {

void bind_gather(nb::module_ &m);

} // namespace ucdpy
