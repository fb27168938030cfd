// From times of copy engines and kernels to the figures of src/backend/gpu_common/plan/tuning.h.
#pragma once

#include <span>
#include <string>

namespace bench::gpu {

struct EngineSample {
    bool to_host, listed;
    double block, blocks;  // bytes, and how many
    double kernel, engine; // ns
};

// The figures of a device. Throws std::runtime_error if samples for it are missing.
std::string tuning_section(const std::string &device, std::span<const EngineSample> samples);

} // namespace bench::gpu
