// Divides one piece of work among several threads.
#pragma once

#include <atomic>
#include <exception>
#include <new>
#include <thread>
#include <vector>

namespace ucd {

// One share. A plain function, because GCC would export what std::thread makes of a class or lambda
// of ours from every library that is linked with libucd.a.
inline void run_share(void (*share)(const void *work, unsigned i), const void *work, unsigned i,
                      std::atomic<bool> *out_of_memory) {
    try {
        share(work, i);
    } catch (const std::bad_alloc &) {
        *out_of_memory = true;
    }
}

// Optimised for size, because starting a thread takes longer.
[[gnu::cold]] inline void
run_in_threads(unsigned threads, void (*share)(const void *work, unsigned i), const void *work) {
    std::atomic<bool> out_of_memory{false};
    std::vector<std::jthread> helpers;
    helpers.reserve(threads - 1);
    for (unsigned i = 0; i < threads; ++i) {
        try {
            if (i + 1 < threads) {
                helpers.emplace_back(run_share, share, work, i, &out_of_memory);
                continue;
            }
        } catch (const std::exception &) { // there is no thread, or no memory for it
        }
        run_share(share, work, i, &out_of_memory);
    }
    helpers.clear(); // joins
    if (out_of_memory) throw std::bad_alloc();
}

// Calls share(0) to share(threads - 1) concurrently, the last one in the calling thread; one share
// needs no other thread. If a thread cannot be started, its share runs in the calling thread, too.
// If a share throws std::bad_alloc, the only exception that it may throw, this throws it after all
// shares have ended.
template <class Share>
void in_threads(unsigned threads, const Share &share) {
    if (threads == 1) return share(0);
    run_in_threads(
        threads, [](const void *work, unsigned i) { (*static_cast<const Share *>(work))(i); },
        &share);
}

} // namespace ucd
