// The kernels as SPIR-V, and for some devices as native code, made at build time by
// embed_kernels.py.
#pragma once

#include <span>

namespace ucd::ze {

using Code = std::span<const unsigned char>;

// Several kernels may have one module; a kernel may have several, of which the first one that a
// device can take is the one to use.
struct KernelModule {
    const char *kernel;
    Code spirv;
    std::span<const Code> natives; // drivers know which devices each one is for
    bool doubles;                  // needs a device that computes with 64-bit floats
    const char *flags;             // for the driver's compiler
};

std::span<const KernelModule> kernel_modules();

} // namespace ucd::ze
