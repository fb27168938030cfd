// The list of info keys ucd.ucx.*, and a check for misspelt ones.
#pragma once

#include "common/failure.h"

namespace ucd_ucx {

// INVALID_ARG if `info` has a key that begins with libucd-ucx's prefix but does not exist. Other
// keys are ignored, since they belong to libucd or to other libraries. `found` is called for each
// of libucd-ucx's, with `argument`; its failure ends the check.
using KeyFound = Status (*)(ucd_info_t info, const char *key, void *argument);
Status check_keys(ucd_info_t info, KeyFound found = nullptr, void *argument = nullptr);

} // namespace ucd_ucx
