// Stamps of handles: they say whether what was known of a handle still holds.

#include "preload/committed_handles.h"
#include "support/catch.hpp"

#include <set>
#include <vector>

namespace committed_handles_test {

using ucd_mpi::CommittedHandles;
using ucd_mpi::HandleStamp;

namespace {

// As MPI libraries number types, and addresses.
std::vector<CommittedHandles::Handle> some_handles(std::uintptr_t count) {
    std::vector<CommittedHandles::Handle> handles;
    for (std::uintptr_t i = 0; i < count; ++i) {
        handles.push_back(0x8c000000 + i);
        handles.push_back(0x555500000000 + 352 * i);
    }
    return handles;
}

} // namespace

TEST_CASE("a handle has no stamp before a type of it was committed") {
    CommittedHandles committed;
    for (const auto handle : some_handles(100)) CHECK(committed.stamp(handle) == 0);
    CHECK(committed.stamp(0) == 0);
    // Nor if something else changes first.
    committed.change(0x8c000005);
    committed.change_all();
    for (const auto handle : some_handles(100)) CHECK(committed.stamp(handle) == 0);
}

TEST_CASE("no stamp comes again") {
    CommittedHandles committed;
    const CommittedHandles::Handle handle = 0x8c000005;
    std::set<HandleStamp> stamps;
    for (int i = 0; i < 1000; ++i) {
        if (i % 3 == 0)
            committed.add(handle);
        else if (i % 3 == 1)
            committed.change(handle);
        else
            committed.change_all();
        const HandleStamp stamp = committed.stamp(handle);
        REQUIRE(stamp != 0);
        REQUIRE(stamps.insert(stamp).second);
        REQUIRE(committed.stamp(handle) == stamp);
    }
}

TEST_CASE("the stamp after one more commit is known, and is that of no other history") {
    CommittedHandles committed;
    const CommittedHandles::Handle handle = 0x8c000005;
    committed.add(handle);
    const HandleStamp expected = CommittedHandles::after(committed.stamp(handle));
    CHECK(committed.stamp(handle) != expected);
    committed.add(handle);
    CHECK(committed.stamp(handle) == expected);
    committed.add(handle);
    CHECK(committed.stamp(handle) != expected);
    // A duplicate of a type with the attribute is no new type.
    const HandleStamp of_new = CommittedHandles::after(committed.stamp(handle));
    committed.add_attribute(handle);
    CHECK(committed.stamp(handle) != of_new);
    committed.add(handle);
    CHECK(committed.stamp(handle) != of_new);
}

TEST_CASE("attributes are told from commits") {
    CommittedHandles committed;
    const CommittedHandles::Handle handle = 0x8c000005;
    committed.add(handle);
    CHECK(!committed.may_have_attribute(handle));
    const HandleStamp before = committed.stamp(handle);
    committed.add_attribute(handle);
    CHECK(committed.may_have_attribute(handle));
    CHECK(committed.stamp(handle) != before);
    // What had the attribute only was not committed.
    committed.add_attribute(handle + 1);
    CHECK(committed.stamp(handle + 1) == 0);
}

TEST_CASE("of handles that were not committed, few seem to be") {
    CommittedHandles committed;
    for (const auto handle : some_handles(500)) committed.add(handle);
    for (const auto handle : some_handles(500)) CHECK(committed.stamp(handle) != 0);
    int others = 0;
    for (std::uintptr_t i = 0; i < 10000; ++i) others += committed.stamp(0x4c000000 + 257 * i) != 0;
    CHECK(others < 1000);
}

} // namespace committed_handles_test
