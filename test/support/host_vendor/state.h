// What the parts of the runtime have in common.
#pragma once

#include <atomic>

namespace ucd::hostgpu {

extern thread_local int current_device;

// Whether a knob says that this is the one to fail.
bool is_failing_one(std::atomic<int> &knob);

} // namespace ucd::hostgpu
