// Types of very many levels, for tests that nothing recurses into them. An algorithm that takes
// time in proportion to the square of their number does not end within the test's time limit.
#pragma once

#include <cstdint>
#include <functional>

namespace ucdtest {

// Calls `body` with UCD_TEST_LEVELS, or 100000, in a thread whose stack holds some three bytes a
// level.
void on_small_stack(const std::function<void(std::intptr_t levels)> &body);

} // namespace ucdtest
