#include "in_threads.h"

#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace ucd::seq {

// Small code will do: starting a thread takes longer.
[[gnu::cold]] void run_in_threads(unsigned threads, void (*share)(const void *work, unsigned i),
                                  const void *work) {
    std::atomic<bool> out_of_memory{false};
    std::vector<std::jthread> helpers;
    helpers.reserve(threads - 1);
    for (unsigned i = 0; i < threads; ++i) {
        bool started = false;
        if (i + 1 < threads) {
            try {
                helpers.emplace_back([share, work, &out_of_memory, i] {
                    try {
                        share(work, i);
                    } catch (const std::bad_alloc &) {
                        out_of_memory = true;
                    }
                });
                started = true;
            } catch (const std::system_error &) {
            }
        }
        if (!started) share(work, i);
    }
    helpers.clear(); // joins
    if (out_of_memory) throw std::bad_alloc();
}

} // namespace ucd::seq
