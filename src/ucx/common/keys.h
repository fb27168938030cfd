// The keys ucd.ucx.* of an info: which there are.
#pragma once

#include "common/failure.h"

namespace ucd_ucx {

// INVALID_ARG if a key that is set on info begins as libucd-ucx's do and is none of them. Other
// keys are not looked at: they are libucd's or somebody else's.
Status check_keys(ucd_info_t info);

} // namespace ucd_ucx
