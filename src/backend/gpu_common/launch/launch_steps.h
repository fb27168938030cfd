// The contents of a launch: kernels, and copies by engines. A prepared launch keeps them, and puts
// them into streams repeatedly.
#pragma once

#include "pitched_copies.h"
#include "runtime/plain_copy.h"
#include "status.h"
#include "vendor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace ucd::UCD_GPU {

struct KernelStep {
    const void *kernel;
    uint32_t blocks;
    std::vector<char> params;
};

// Rows, or planes of rows; one side is packed.
struct PitchedStep {
    PitchedCopy copy;
    char *typed, *packed; // of the first row
    bool pack;
};

using PlainStep = std::vector<PlainCopy>; // in no particular order

Status run_kernel(gpuStream_t stream, const void *kernel, uint32_t blocks, void *params);
Status run_pitched(gpuStream_t stream, const PitchedStep &step);
Status run_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool captured);

class LaunchSteps {
public:
    // Steps run in the order in which they are added. Kernels must have been loaded.
    template <class Step>
    void add(Step step) {
        steps_.emplace_back(std::move(step));
    }
    std::size_t size() const { return steps_.size(); }
    Status run(gpuStream_t stream, bool captured) const;

private:
    std::vector<std::variant<KernelStep, PitchedStep, PlainStep>> steps_;
};

} // namespace ucd::UCD_GPU
