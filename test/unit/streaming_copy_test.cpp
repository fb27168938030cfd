// Copies past the caches, from and to any place, of any length.
#include "support/catch.hpp"

#include "support/streaming_copy.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace streaming_copy_test {

TEST_CASE("streaming copies move what they should and touch nothing else") {
    constexpr std::size_t room = 512;
    std::vector<char> from(room), to(room);
    for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<char>(i * 7 + i / 251 + 1);
    for (std::size_t at = 0; at < 70; ++at)
        for (std::size_t start = 0; start < 70; start += 3)
            for (const std::size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 200, 320}) {
                std::fill(to.begin(), to.end(), '\0');
                ucd::streaming_copy(&to[at], &from[start], bytes);
                bool right = true;
                for (std::size_t i = 0; i < room; ++i) {
                    const bool inside = at <= i && i < at + bytes;
                    right = right && to[i] == (inside ? from[start + i - at] : '\0');
                }
                REQUIRE(right);
            }
}

TEST_CASE("streaming rows move what they should and touch nothing else") {
    constexpr std::size_t room = 2048;
    std::vector<char> from(room), to(room);
    for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<char>(i * 7 + i / 251 + 1);
    for (const std::size_t row : {1, 63, 64, 65, 200})
        for (const std::ptrdiff_t stride : {256, 201, -256, -203})
            for (const std::size_t at : {0, 5, 64}) {
                const std::size_t first = stride < 0 ? at + 3 * 256 : at;
                std::fill(to.begin(), to.end(), '\0');
                ucd::stream_rows(&to[first], stride, &from[at], row, 4);
                std::vector<char> expected(room);
                for (std::size_t i = 0; i < 4; ++i)
                    std::memcpy(&expected[first] + static_cast<std::ptrdiff_t>(i) * stride,
                                &from[at + i * row], row);
                REQUIRE(to == expected);
            }
}

// On a processor with stores past the caches, and with two cores free, a copy that does not wait
// for them is found out in a third of the rounds.
TEST_CASE("who is told that a streaming copy is complete sees what was copied") {
    constexpr int rounds = 2000;
    alignas(64) static std::array<char, 64> from, to;
    alignas(64) std::atomic<int> copied{0};
    alignas(64) std::atomic<int> seen{0};
    const auto wait = [](const std::atomic<int> &number, int until) {
        for (int looks = 0; number.load(std::memory_order_acquire) != until; ++looks)
            if (looks > 2000) std::this_thread::yield();
    };
    int stale = 0;
    std::thread reader([&] {
        for (int round = 1; round <= rounds; ++round) {
            wait(copied, round);
            int last;
            std::memcpy(&last, to.data() + to.size() - sizeof last, sizeof last);
            stale += last != round;
            seen.store(round, std::memory_order_release);
        }
    });
    for (int round = 1; round <= rounds; ++round) {
        for (std::size_t at = 0; at < from.size(); at += sizeof round)
            std::memcpy(from.data() + at, &round, sizeof round);
        ucd::streaming_copy(to.data(), from.data(), from.size());
        copied.store(round, std::memory_order_release);
        wait(seen, round);
    }
    reader.join();
    CHECK(stale == 0);
}

} // namespace streaming_copy_test
