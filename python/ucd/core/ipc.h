#pragma once

#include "core/errors.h"

namespace ucdpy {

void bind_ipc(nb::module_ &m);

} // namespace ucdpy
