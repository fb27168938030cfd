// Moves that somebody would write for one layout, who knows it when compiling: the yardstick. Where
// it is not obvious which of several ways is the fastest, each is there, under a name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

// What is only known when running: where units or runs of units lie, and how many units each run
// has. In the memory of who moves.
struct Lists {
    const std::int32_t *displs = nullptr, *lengths = nullptr;
    std::size_t count = 0;
};

using MoveFunction = void (*)(const Lists &lists, char *typed, char *packed);

// A GPU's start kernels in the null stream. A way that there is in one direction only is null in
// the other.
struct HandMove {
    const char *way;
    MoveFunction pack, unpack;
};

} // namespace bench
