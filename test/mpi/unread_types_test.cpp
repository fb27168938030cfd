// Types of which libucd-mpi-preload knows no more than how much was moved with them.

#include "preload/seen_handles.h"
#include "preload/unread_types.h"
#include "support/catch.hpp"

#include <cstdint>
#include <thread>
#include <vector>

using ucd_mpi::UnreadTypes;

TEST_CASE("an unread type is there until one caller removes it") {
    UnreadTypes types;
    const UnreadTypes::Handle type = 0x8c000005;
    CHECK(!types.contains(type));
    CHECK(!types.remove(type));
    REQUIRE(types.add(type));
    CHECK(types.contains(type));
    CHECK(types.count(type, 100) == 100);
    CHECK(types.count(type, 20) == 120);
    CHECK(types.bytes_moved(type) == 120);
    CHECK(types.remove(type));
    CHECK(!types.contains(type));
    CHECK(!types.remove(type));
}

TEST_CASE("what is no handle is never there, and nothing after all were cleared") {
    UnreadTypes types;
    CHECK(!types.contains(0));
    CHECK(!types.remove(0));
    const UnreadTypes::Handle type = 0x8c000005;
    REQUIRE(types.add(type));
    types.clear();
    CHECK(!types.contains(type));
    REQUIRE(types.add(type));
}

TEST_CASE("handles that were seen are known, and few others seem to be") {
    ucd_mpi::SeenHandles seen;
    CHECK(!seen.may_contain(0));
    std::vector<std::uintptr_t> handles; // as MPI libraries number types, or addresses
    for (std::uintptr_t i = 0; i < 500; ++i) {
        handles.push_back(0x8c000000 + i);
        handles.push_back(0x555500000000 + 352 * i);
    }
    for (const std::uintptr_t handle : handles) seen.add(handle);
    for (const std::uintptr_t handle : handles) CHECK(seen.may_contain(handle));
    int others = 0;
    for (std::uintptr_t i = 0; i < 10000; ++i) others += seen.may_contain(0x4c000000 + 257 * i);
    CHECK(others < 1000);
}

TEST_CASE("a type that comes again begins at no bytes") {
    UnreadTypes types;
    const UnreadTypes::Handle type = 0x5555000012340;
    REQUIRE(types.add(type));
    types.count(type, 100);
    SECTION("after it was removed") {
        REQUIRE(types.remove(type));
    }
    SECTION("without having been removed") {}
    REQUIRE(types.add(type));
    CHECK(types.bytes_moved(type) == 0);
    CHECK(types.remove(type));
    CHECK(!types.remove(type));
}

TEST_CASE("what finds no room is refused, and leaves what is there") {
    UnreadTypes types;
    std::vector<UnreadTypes::Handle> added, refused;
    for (UnreadTypes::Handle type = 0x8c000000; type < 0x8c000000 + 2 * UnreadTypes::max_types;
         ++type)
        (types.add(type) ? added : refused).push_back(type);
    // Handles in a row do not disturb each other.
    CHECK(added.size() == UnreadTypes::max_types);
    CHECK(refused.size() == UnreadTypes::max_types);
    for (const UnreadTypes::Handle type : refused) {
        CHECK(!types.contains(type));
        CHECK(!types.remove(type));
    }
    for (const UnreadTypes::Handle type : added) CHECK(types.remove(type));
    for (const UnreadTypes::Handle type : refused) CHECK(types.add(type));
}

TEST_CASE("of several threads that remove a type, one has removed it") {
    UnreadTypes types;
    for (int round = 0; round < 200; ++round) {
        const UnreadTypes::Handle type = 0x8c000000 + static_cast<UnreadTypes::Handle>(round);
        REQUIRE(types.add(type));
        std::atomic<int> removed{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back([&] { removed += types.remove(type) ? 1 : 0; });
        for (std::thread &thread : threads) thread.join();
        REQUIRE(removed == 1);
    }
}
