// Figures for code that is compiled without knowing the device.
#pragma once

#include <cstdint>

namespace ucd::UCD_GPU {

struct DeviceCodeTuning {
    uint32_t warp_lanes, tile_side;
};

#if defined(__HIP_PLATFORM_AMD__) && !defined(UCD_DEVICE_CODE_VENDOR)
inline constexpr DeviceCodeTuning tuning = {64, 32};
#else
inline constexpr DeviceCodeTuning tuning = {32, 32};
#endif

} // namespace ucd::UCD_GPU
