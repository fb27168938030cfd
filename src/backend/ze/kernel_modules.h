// The kernels as SPIR-V and, for some devices, as native code. embed_kernels.py makes them at build
// time.
#pragma once

#include <span>

namespace ucd::ze {

using Code = std::span<const unsigned char>;

// Several kernels may share a module. A kernel may be in several modules; the first one that the
// device supports is used.
struct KernelModule {
    const char *kernel;
    Code spirv;
    std::span<const Code> natives; // drivers find out which one fits a device
    bool doubles;                  // needs a device with 64-bit floats
    const char *flags;             // of the driver's compiler
};

std::span<const KernelModule> kernel_modules();

} // namespace ucd::ze
