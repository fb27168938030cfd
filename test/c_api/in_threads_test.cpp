// Work that is divided among threads, when memory runs out.
#include "c_api/allocations.hpp"
#include "in_threads.h"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <thread>

namespace in_threads_test {

constexpr unsigned threads = 5;
using Runs = std::array<std::atomic<int>, threads>;

TEST_CASE("each share runs once, and memory that runs out in one is reported at the end") {
    for (unsigned failing = 0; failing <= threads; ++failing) { // the last number is of no share
        Runs runs{};
        const auto share = [&](unsigned i) {
            ++runs[i];
            if (i == failing) throw std::bad_alloc();
        };
        if (failing < threads)
            CHECK_THROWS_AS(ucd::in_threads(threads, share), std::bad_alloc);
        else
            CHECK_NOTHROW(ucd::in_threads(threads, share));
        for (const std::atomic<int> &each : runs) CHECK(each == 1);
    }
}

TEST_CASE("the last share runs in the calling thread, and each other one in a thread of its own") {
    std::array<std::thread::id, threads> ran{};
    ucd::in_threads(threads, [&](unsigned i) { ran[i] = std::this_thread::get_id(); });
    CHECK(ran.back() == std::this_thread::get_id());
    CHECK(std::count(ran.begin(), ran.end(), ran.back()) == 1);
    ucd::in_threads(1, [&](unsigned i) { ran[i] = std::this_thread::get_id(); });
    CHECK(ran.front() == ran.back());
}

TEST_CASE("a share whose thread finds no memory runs in the calling thread") {
    for (std::size_t n = 2;; ++n) { // the first allocation is for the list of threads
        REQUIRE(n < 100);
        Runs runs{};
        ucdtest::fail_allocation(n);
        CHECK_NOTHROW(ucd::in_threads(threads, [&](unsigned i) { ++runs[i]; }));
        const bool none_failed = ucdtest::end_failing();
        for (const std::atomic<int> &each : runs) CHECK(each == 1);
        if (none_failed) break;
        CHECK(n <= 2 * threads); // std::jthread makes two
    }
}

} // namespace in_threads_test
