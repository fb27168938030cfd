// From times of copy engines and kernels to the figures of docs/reference/tuning.md.
#pragma once

#include <span>
#include <string>

namespace bench::gpu {

struct EngineSample {
    bool to_host, listed;
    double block, blocks;  // bytes, and how many
    double kernel, engine; // ns
};

// A section of a tuning file. Throws std::runtime_error if samples for it are missing.
std::string tuning_section(const std::string &device, std::span<const EngineSample> samples);

} // namespace bench::gpu
