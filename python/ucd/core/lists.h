#pragma once

#include "core/errors.h"

namespace ucdpy {

void bind_lists(nb::module_ &m);

} // namespace ucdpy
