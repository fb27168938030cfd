// A driver reports failures in ways of its own, so its allocations are not among those that a test
// lets fail (c_api/allocations.hpp).
#pragma once

namespace ucdtest {

inline thread_local int spared_allocations = 0;

class SpareAllocations {
public:
    SpareAllocations() { ++spared_allocations; }
    ~SpareAllocations() { --spared_allocations; }
    SpareAllocations(const SpareAllocations &) = delete;
    SpareAllocations &operator=(const SpareAllocations &) = delete;
};

} // namespace ucdtest
