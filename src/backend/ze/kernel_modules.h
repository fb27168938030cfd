// The kernels as SPIR-V, made at build time by embed_kernels.py.
#pragma once

#include <cstddef>
#include <span>

extern "C" const unsigned char ucd_ze_modules[];

namespace ucd::ze {

// Several kernels may have one module; a kernel may have several, of which the first one that a
// device can take is the one to use.
struct KernelModule {
    const char *kernel;
    std::size_t offset, bytes; // in ucd_ze_modules
    bool doubles;              // needs a device that computes with 64-bit floats
};

std::span<const KernelModule> kernel_modules();

} // namespace ucd::ze
