// Decides how many threads a move should use.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ucd::seq {

// For a move of this many bytes; at most `most`.
inline unsigned useful_threads(uint64_t bytes, uint32_t most) {
    // With fewer bytes per thread, starting a thread costs more than it gains.
    constexpr uint64_t worth_a_thread = uint64_t{512} * 1024;
    if (most <= 1) return 1;
    const uint64_t useful = bytes / worth_a_thread;
    return static_cast<unsigned>(std::clamp<uint64_t>(useful, 1, most));
}

} // namespace ucd::seq
