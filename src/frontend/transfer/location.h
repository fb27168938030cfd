// Where buffers are.
#pragma once

#include "transfer/executor.h"

#include <array>

namespace ucd {

inline char *displaced(char *address, uint64_t bytes) {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(address) + bytes);
}

// Where an address is: as the hint says, if there is one, else as the backends know it.
Status find_location(const Context &context, const Hints &hints, const LocationHint *hint,
                     const void *address, MemoryLocation &location);

// The same for the buffers of one call, many of which may be parts of one allocation: the drivers
// are asked about each allocation once. Answers are kept for one call only, because memory may be
// freed and its address reused afterwards.
class LocationCache {
public:
    LocationCache(const Context &context, const Hints &hints) : context_(context), hints_(hints) {}
    Status find(const LocationHint *hint, const void *address, MemoryLocation &location);

private:
    const Context &context_;
    const Hints &hints_;
    std::array<MemoryLocation, 4> known_; // the last ones
    std::size_t next_ = 0;
};

// As hints word it: host, pinned, managed, or a device of a backend.
struct MemoryName {
    char text[32];
};
MemoryName name_of(const MemoryLocation &location);

// Whether the executor reaches the place, and may.
bool reaches(const Executor &executor, const Hints &hints, const MemoryLocation &location);

} // namespace ucd
