// One piece of work in several threads.
#pragma once

#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace ucd::seq {

// How many threads pay for a move of so many bytes, `most` at most.
inline unsigned useful_threads(uint64_t bytes, uint32_t most) {
    // Below this many bytes per thread, starting one costs more than it gains.
    constexpr uint64_t worth_a_thread = 512 * 1024;
    if (most <= 1) return 1;
    const uint64_t useful = bytes / worth_a_thread;
    return useful > most ? most : useful > 1 ? static_cast<unsigned>(useful) : 1;
}

// Calls share(0) to share(threads - 1) side by side, the last one here. Where no thread is to be
// had, its share is done here, too. Throws std::bad_alloc if a share does, after all have ended.
template <class Share>
void in_threads(unsigned threads, const Share &share) {
    std::atomic<bool> out_of_memory{false};
    std::vector<std::jthread> helpers;
    helpers.reserve(threads - 1);
    for (unsigned i = 0; i < threads; ++i) {
        bool started = false;
        if (i + 1 < threads) {
            try {
                helpers.emplace_back([&share, &out_of_memory, i] {
                    try {
                        share(i);
                    } catch (const std::bad_alloc &) {
                        out_of_memory = true;
                    }
                });
                started = true;
            } catch (const std::system_error &) {
            }
        }
        if (!started) share(i);
    }
    helpers.clear(); // joins
    if (out_of_memory) throw std::bad_alloc();
}

} // namespace ucd::seq
