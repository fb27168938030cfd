// What the driver takes as native code: these bytes, and SPIR-V. It refuses all else, as drivers
// refuse code for other devices.
#pragma once

namespace zedriver {

inline constexpr unsigned char native_head[16] = "native on PoCL:";

} // namespace zedriver
