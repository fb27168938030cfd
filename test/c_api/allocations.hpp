// What goes through operator new in a test program that links allocations.cpp: how much of it
// lives, and a way to let it fail.
#pragma once

#include <cstddef>

namespace ucdtest {

// Allocations that were made and not given back.
std::ptrdiff_t live_allocations();

// Lets this thread's n-th allocation from now on, counted from 1, throw std::bad_alloc; once.
void fail_allocation(std::size_t n);
// Lets no allocation fail any longer; whether none has failed since fail_allocation().
bool end_failing();

// While it lives, this thread's allocations do not count: they are those of a stand-in for
// something that reports its failures in another way.
class NoFailures {
public:
    NoFailures() { ++depth; }
    ~NoFailures() { --depth; }
    NoFailures(const NoFailures &) = delete;
    NoFailures &operator=(const NoFailures &) = delete;
    static inline thread_local int depth = 0;
};

} // namespace ucdtest
