// Device buffers that start where kernels need it: others start anywhere.
#pragma once

#include "support/buffers/device_buffer.hpp"

#include <cstdint>
#include <memory>

namespace ucdtest {

// One whose address is as much above a multiple of `unit` as `rest` is.
inline std::unique_ptr<DeviceBuffer> aligned_buffer(Rng &rng, TouchedRange range, Memory memory,
                                                    std::size_t unit = 16, std::size_t rest = 0) {
    for (;;) {
        auto buffer = std::make_unique<DeviceBuffer>(rng, range, memory);
        const auto at = reinterpret_cast<std::uintptr_t>(buffer->real_base());
        if ((at - rest) % unit == 0) return buffer;
    }
}

} // namespace ucdtest
