// What the sections for GPUs have in common.
#pragma once

#include "cases/gpu/layouts.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"
#include "harness/device.hpp"

#include <algorithm>

namespace bench::gpu {

// Displacements for kernels written by hand, in the memory of the device.
class DeviceLists {
public:
    DeviceLists(Device &device, const ListData &lists)
        : count_(lists.displs.size()),
          displs_(device, std::max<std::size_t>(count_, 1) * sizeof(std::int32_t)) {
        if (count_ > 0)
            device.copy(displs_.data(), lists.displs.data(), count_ * sizeof(std::int32_t));
    }
    Lists view() const { return {displs_.as<const std::int32_t>(), nullptr, count_}; }

private:
    std::size_t count_;
    Buffer displs_;
};

} // namespace bench::gpu
