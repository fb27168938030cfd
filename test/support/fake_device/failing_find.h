// A knob of the backend "mock": its driver cannot tell whose an address is.
#pragma once

#include <atomic>

namespace mock {

extern std::atomic<bool> failing_find;

} // namespace mock
