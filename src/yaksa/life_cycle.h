#pragma once

#include <ucd.h>

namespace ucd_yaksa {

// True between the first yaksa_init and the last yaksa_finalize.
bool is_initialized();

// Whether the first yaksa_init was given nogpu. `no_gpu_hints` then holds the hint for libucd.
bool without_gpus();
ucd_info_t no_gpu_hints();

} // namespace ucd_yaksa
