#pragma once

#include <ucd.h>

namespace ucd_yaksa {

// Between the first yaksa_init and the last yaksa_finalize.
bool is_initialized();

// Whether the first yaksa_init said nogpu: then `no_gpu_hints` says so to libucd.
bool without_gpus();
ucd_info_t no_gpu_hints();

} // namespace ucd_yaksa
