// The table behind the handles, with a bound that a test can reach.
#include "c_api/allocations.hpp"
#include "support/catch.hpp"

#include "handle_table.h"

#include <set>
#include <vector>

namespace handle_table_test {

using ucd_yaksa::HandleTable;

TEST_CASE("a table of handles is bounded, and forgets what is removed") {
    HandleTable<int> table(57, 200);
    CHECK(table.find(0) == nullptr);
    CHECK(table.find(57) == nullptr);
    std::vector<std::uint64_t> handles;
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 200; ++i) {
        handles.push_back(table.insert(int(i)));
        REQUIRE(handles.back() != 0);
        REQUIRE(seen.insert(handles.back()).second);
    }
    CHECK(table.insert(7) == 0);
    for (int i = 0; i < 200; ++i) REQUIRE(*table.find(handles[static_cast<std::size_t>(i)]) == i);
    int value = -1;
    for (const std::size_t i : {0, 63, 64, 199}) {
        REQUIRE(table.remove(handles[i], value));
        CHECK(value == static_cast<int>(i));
        CHECK(table.find(handles[i]) == nullptr);
        CHECK_FALSE(table.remove(handles[i], value));
        const std::uint64_t again = table.insert(1000);
        REQUIRE(seen.insert(again).second);
        CHECK((again & UINT32_MAX) == (handles[i] & UINT32_MAX));
        CHECK(table.find(handles[i]) == nullptr);
        CHECK(*table.find(again) == 1000);
        CHECK(table.insert(7) == 0);
    }
    // What was removed is not there to be cleared; the last entry is.
    REQUIRE(table.remove(handles[100], value));
    int left = 0, last = 0;
    table.clear([&](int entry) {
        ++left;
        last = entry;
    });
    CHECK((left == 199 && last == 1000));
    CHECK(table.find(handles[5]) == nullptr);
    const std::uint64_t fresh = table.insert(3);
    CHECK(seen.count(fresh) == 0);
    CHECK(*table.find(fresh) == 3);
}

TEST_CASE("handles are removed without memory, however many there have been") {
    for (std::size_t entries = 1; entries < 40; ++entries) {
        INFO(entries);
        HandleTable<int> table(57, 200);
        std::vector<std::uint64_t> handles;
        for (std::size_t i = 0; i < entries; ++i) handles.push_back(table.insert(7));
        int value = 0;
        std::size_t removed = 0;
        ucdtest::fail_allocation(1);
        for (const std::uint64_t handle : handles) removed += table.remove(handle, value);
        CHECK(ucdtest::end_failing());
        CHECK(removed == entries);
    }
}

} // namespace handle_table_test
