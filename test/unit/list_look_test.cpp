// What lists are found to be, against the definition worked out entry by entry; and what becomes of
// the memory of long ones.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/random/random_cases.hpp"

#include "host_functions.h"
#include "layout/normalise/list_look.h"
#include "layout/normalise/period.h"
#include "support/list_memory.h"

#include <ucd.h>

#include <algorithm>
#include <map>
#include <string>

namespace list_look_test {

using namespace ucdtest;

namespace {

int64_t step_of(const std::vector<int64_t> &list, std::size_t i) {
    return static_cast<int64_t>(static_cast<uint64_t>(list[i]) -
                                static_cast<uint64_t>(list[i - 1]));
}

// Few different steps, with the extremes among them; now and then a period or one step that is
// almost everywhere.
std::vector<int64_t> random_list(Rng &rng, std::size_t size) {
    const std::vector<int64_t> steps{8, 8, -8, 0, 16, 24, INT64_MAX, INT64_MIN, 1};
    const std::size_t few = 1 + rng.below(steps.size());
    const unsigned usual = rng.chance(50) ? 0 : static_cast<unsigned>(rng.below(100));
    const std::size_t period = rng.chance(50) ? size + 1 : 1 + rng.below(size);
    std::vector<int64_t> list{static_cast<int64_t>(rng.bits())};
    for (std::size_t i = 1; i < size; ++i) {
        int64_t step = rng.chance(usual) ? 8 : steps[rng.below(few)];
        if (i > period) step = step_of(list, i - period);
        if (rng.chance(1) && rng.chance(20)) step = 5;
        list.push_back(
            static_cast<int64_t>(static_cast<uint64_t>(list.back()) + static_cast<uint64_t>(step)));
    }
    return list;
}

} // namespace

TEST_CASE("A look at a list sees what is there") {
    run_cases("looks", 3000, [](Case &one) {
        const auto list = random_list(one.rng(), 1 + one.rng().mostly_small(2000));
        const int64_t step = one.rng().chance(50) ? 8 : static_cast<int64_t>(one.rng().bits());
        std::map<int64_t, std::size_t> steps;
        for (std::size_t i = 1; i < list.size(); ++i) ++steps[step_of(list, i)];
        const auto [least, most] = std::minmax_element(list.begin(), list.end());
        const ucd::ListLook look = ucd::look_at(list, step);
        if (look.steps != steps[step] || ucd::count_steps(list, step) != steps[step])
            one.fail("steps are counted wrongly");
        if (look.least != *least || look.most != *most) one.fail("extremes are wrong");
        // A step is frequent if the others make runs of four on average: see fold.cpp.
        std::size_t usual = 0;
        for (const auto &[s, times] : steps) usual = std::max(usual, times);
        const bool frequent = 4 * (list.size() - usual) <= list.size();
        if (frequent && !ucd::may_have_frequent_step(list)) one.fail("a frequent step is missed");
    });
    // It does say no: otherwise a look would be as long as what it saves.
    CHECK_FALSE(ucd::may_have_frequent_step(std::vector<int64_t>{0, 1, 3, 6, 10, 15, 21, 28, 36}));
}

TEST_CASE("A look at lengths sees their common unit") {
    run_cases("lengths", 2000, [](Case &one) {
        Rng &rng = one.rng();
        const uint64_t unit = uint64_t{1} << rng.below(6);
        const bool equal = rng.chance(30);
        std::vector<uint64_t> lengths(1 + rng.mostly_small(600), unit * (1 + rng.below(9)));
        for (uint64_t &length : lengths)
            if (!equal && rng.chance(50)) length = unit * (1 + rng.below(9));
        std::vector<uint64_t> first{0};
        uint64_t bits = 0;
        for (const uint64_t length : lengths) {
            first.push_back(first.back() + length);
            bits |= length;
        }
        const bool uniform =
            std::all_of(lengths.begin(), lengths.end(), [&](auto l) { return l == lengths[0]; });
        const ucd::LengthLook look = ucd::look_at_lengths(first);
        if (look.uniform != uniform) one.fail("uniform lengths are not seen as they are");
        if (!uniform && (look.bits & -look.bits) != (bits & -bits)) one.fail("the unit is wrong");
    });
}

TEST_CASE("A look at blocks sees whether one is empty") {
    for (const std::size_t count : {1, 7, 100})
        for (const int64_t length : {int64_t{1}, int64_t{2}, int64_t{1} << 60}) {
            const std::vector<int64_t> displs(count, 5);
            std::vector<int64_t> lengths(count, length);
            CHECK(ucd::look_at_blocks(displs, lengths.data()).shortest == length);
            for (std::size_t i = 0; i < count; ++i) {
                lengths[i] = 0;
                CHECK(ucd::look_at_blocks(displs, lengths.data()).shortest == 0);
                lengths[i] = length;
            }
        }
}

TEST_CASE("No list makes the search for a period slow") {
    // Many divisors, and each is refuted by the last entries only, or in the middle.
    constexpr std::size_t n = 720720;
    for (const std::size_t odd : {n - 1, n / 2, n / 3, std::size_t{2}}) {
        std::vector<int64_t> list;
        for (std::size_t i = 0; i < n; ++i)
            list.push_back(static_cast<int64_t>(i * 8 + (i == odd)));
        std::size_t compared = 0;
        const auto same_step = [&](auto i, auto j) {
            ++compared;
            return step_of(list, i) == step_of(list, j);
        };
        CHECK(ucd::shortest_period(n, same_step, [](auto, auto) { return true; }) == n);
        CHECK(compared < 6 * n);
    }
}

TEST_CASE("The memory of long lists is used again, and not without a limit") {
    constexpr std::size_t entries = 2 * ucd::min_kept_list / sizeof(int64_t);
    ucd::release_kept_lists();
    auto list = ucd::take_list<int64_t>(entries);
    const int64_t *const memory = list.data();
    ucd::keep_list(list);
    CHECK(list.capacity() == 0);
    // A list of half the size would waste it.
    auto half = ucd::take_list<int64_t>(entries / 2);
    CHECK(half.data() != memory);
    auto again = ucd::take_list<int64_t>(entries);
    CHECK(again.data() == memory);
    CHECK(again.empty());
    again.assign(entries + 8, 7);
    ucd::keep_list(again);
    CHECK(again.empty());
    // The entries that a list has left stay until they are overwritten.
    again = ucd::take_used_list<int64_t>(entries);
    CHECK(again.size() == entries);
    CHECK(again.capacity() >= entries + 8);
    ucd::keep_list(again);
    again = ucd::take_used_list<int64_t>(entries + 8);
    CHECK(again.size() == entries);
    ucd::keep_list(again);
    ucd::release_kept_lists();
    std::vector<int64_t> none;
    ucd::keep_list(none);
    CHECK(ucd::take_list<int64_t>(0).empty());
}

template <class T>
static void check_release() {
    constexpr std::size_t entries = 2 * ucd::min_kept_list / sizeof(T);
    std::vector<T> list(entries + 8);
    ucd::keep_list(list);
    list = ucd::take_list<T>(entries);
    CHECK(list.capacity() == entries + 8); // by which memory that is used again is known
    ucd::keep_list(list);
    ucd::release_kept_lists();
    CHECK(ucd::take_list<T>(entries).capacity() == entries);
}

TEST_CASE("Memory that was kept is given back, of lists of each kind") {
    ucd::release_kept_lists();
    check_release<int64_t>();
    check_release<uint64_t>();
}

TEST_CASE("Several lists' memory is kept, that of the latest ones first") {
    constexpr std::size_t entries = ucd::min_kept_list / sizeof(int64_t), most = 16;
    ucd::release_kept_lists();
    std::vector<std::vector<int64_t>> lists(most + 1);
    std::vector<const int64_t *> memory;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        lists[i] = ucd::take_list<int64_t>(entries << (i % 4));
        memory.push_back(lists[i].data());
    }
    for (std::vector<int64_t> &list : lists) ucd::keep_list(list);
    std::vector<const int64_t *> again;
    for (std::size_t i = 1; i < lists.size(); ++i) {
        lists[i] = ucd::take_list<int64_t>(entries << (i % 4));
        again.push_back(lists[i].data());
    }
    std::sort(again.begin(), again.end());
    memory.erase(memory.begin());
    std::sort(memory.begin(), memory.end());
    CHECK(again == memory);
    ucd::release_kept_lists();
    // Of two that are too much together, the first goes.
    constexpr std::size_t large = ucd::default_list_memory / 2 / sizeof(int64_t) / 16 * 9;
    auto first = ucd::take_list<int64_t>(large), second = ucd::take_list<int64_t>(large);
    const int64_t *const kept = second.data();
    ucd::keep_list(first);
    ucd::keep_list(second);
    CHECK(ucd::take_list<int64_t>(large).data() == kept);
    CHECK(ucd::take_list<int64_t>(large).data() != kept);
    ucd::release_kept_lists();
}

TEST_CASE("ucd.list_memory bounds the memory of lists that is kept") {
    constexpr std::size_t entries = ucd::min_kept_list / sizeof(int64_t);
    // Each half has room for two lists.
    Keys info;
    const std::string bytes = std::to_string(4 * ucd::min_kept_list);
    info.set("ucd.list_memory", bytes);
    REQUIRE(ucd_finalize() == UCD_SUCCESS); // main() has made the one ucd_init that there is
    REQUIRE(ucd_init(info) == UCD_SUCCESS);
    CHECK(ucd::list_memory() == 4 * ucd::min_kept_list);
    std::vector<std::vector<int64_t>> lists(4);
    std::vector<const int64_t *> memory, again;
    for (std::vector<int64_t> &list : lists) {
        list = ucd::take_list<int64_t>(entries);
        memory.push_back(list.data());
    }
    for (std::vector<int64_t> &list : lists) ucd::keep_list(list);
    for (std::vector<int64_t> &list : lists) {
        list = ucd::take_list<int64_t>(entries);
        again.push_back(list.data());
    }
    CHECK(std::is_permutation(again.begin(), again.begin() + 2, memory.begin() + 2));
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    CHECK(ucd::list_memory() == ucd::default_list_memory);
}

} // namespace list_look_test
