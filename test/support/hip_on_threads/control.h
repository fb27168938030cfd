// HIP on threads of the CPU: what its tests ask for and choose.
#pragma once

#include <atomic>

namespace hip_on_threads {

// All zero: what an MI200 with ROCm does.
struct Knobs {
    std::atomic<bool> uninitialised;        // nobody has used the driver yet
    std::atomic<bool> reserves;             // managed memory is a part of a range that was reserved
    std::atomic<bool> hides_ranges;         // nobody is told where an allocation begins and ends
    std::atomic<bool> rights_are_of_ranges; // and not of pools: with mock::knobs.pools
};
extern Knobs knobs;

// Calls of HIP's functions, of all kinds.
extern std::atomic<int> calls;

// Of the last launch.
extern std::atomic<unsigned> blocks_launched;

} // namespace hip_on_threads
