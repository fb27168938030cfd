// One piece of work in several threads.
#pragma once

#include <cstdint>

namespace ucd::seq {

// How many threads pay for a move of so many bytes, `most` at most.
inline unsigned useful_threads(uint64_t bytes, uint32_t most) {
    // Below this many bytes per thread, starting one costs more than it gains.
    constexpr uint64_t worth_a_thread = 512 * 1024;
    if (most <= 1) return 1;
    const uint64_t useful = bytes / worth_a_thread;
    return useful > most ? most : useful > 1 ? static_cast<unsigned>(useful) : 1;
}

void run_in_threads(unsigned threads, void (*share)(const void *work, unsigned i),
                    const void *work);

// Calls share(0) to share(threads - 1) side by side, the last one here. Where no thread is to be
// had, its share is done here, too. Throws std::bad_alloc if a share does, after all have ended.
template <class Share>
void in_threads(unsigned threads, const Share &share) {
    run_in_threads(
        threads, [](const void *work, unsigned i) { (*static_cast<const Share *>(work))(i); },
        &share);
}

} // namespace ucd::seq
