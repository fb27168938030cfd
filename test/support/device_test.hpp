// Test cases that each begin with the library started anew and the test's device empty.
#pragma once

#include "support/catch.hpp"
#include "support/moves/device_moves.hpp"

#define DEVICE_TEST(...) TEST_CASE_METHOD(ucdtest::DeviceSession, __VA_ARGS__)
