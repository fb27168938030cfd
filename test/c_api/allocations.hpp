// What goes through operator new in a test program that links allocations.cpp: how much of it
// lives, and a way to let it fail. Before its tests, such a program checks that the library's
// allocations are among them (support/test_start.hpp).
#pragma once

#include <cstddef>

namespace ucdtest {

// Allocations that were made and not given back.
std::ptrdiff_t live_allocations();
// Their bytes, and the most that lived at once since the last call of reset_peak().
std::ptrdiff_t live_bytes();
std::ptrdiff_t peak_bytes();
void reset_peak();

// Lets this thread's n-th allocation from now on, counted from 1, throw std::bad_alloc; once.
void fail_allocation(std::size_t n);
// The same n, less what was allocated since; 0: none is to fail any longer.
std::size_t until_failing();
// Lets no allocation fail any longer; whether none has failed since fail_allocation().
bool end_failing();

} // namespace ucdtest
