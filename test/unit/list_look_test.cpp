// What lists are found to be, against the definition worked out entry by entry; and long lists that
// are new every time, against a plain copy of their entries.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/random/random_cases.hpp"
#include "unit/normal_form.hpp"

#include "host_lists.h"
#include "layout/normalise/list_look.h"
#include "layout/normalise/period.h"
#include "support/list_memory.h"

#include <ucd.h>

#include <algorithm>
#include <cstring>
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

// By trying all: quadratic.
std::size_t period_by_trying(const std::vector<int64_t> &list,
                             const std::vector<uint64_t> &lengths) {
    const std::size_t n = list.size();
    for (std::size_t p = 1; n >= 4 && p <= n / 2; ++p) {
        bool repeats = n % p == 0;
        for (std::size_t i = 0; repeats && i + p < n; ++i)
            repeats = lengths[i] == lengths[i + p] &&
                      (i == 0 || step_of(list, i) == step_of(list, i + p));
        if (repeats) return p;
    }
    return n;
}

std::size_t period_of(const std::vector<int64_t> &list, const std::vector<uint64_t> &lengths,
                      std::size_t &compared) {
    return ucd::shortest_period(
        list.size(),
        [&](auto i, auto j) {
            ++compared;
            return step_of(list, i) == step_of(list, j);
        },
        [&](auto i, auto j) { return lengths[i] == lengths[j]; });
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

TEST_CASE("Periods are found whatever the list") {
    run_cases("periods", 3000, [](Case &one) {
        Rng &rng = one.rng();
        const auto list = random_list(rng, 1 + rng.mostly_small(300));
        std::vector<uint64_t> lengths(list.size(), 3);
        const std::size_t every = 1 + rng.below(6);
        for (std::size_t i = 0; i < lengths.size(); i += every) lengths[i] = 4;
        if (rng.chance(20)) lengths[rng.below(lengths.size())] = 5;
        std::size_t compared = 0;
        if (period_of(list, lengths, compared) != period_by_trying(list, lengths))
            one.fail("another period");
    });
}

TEST_CASE("No list makes the search for a period slow") {
    // Many divisors, and each is refuted by the last entries only, or in the middle.
    constexpr std::size_t n = 720720;
    for (const std::size_t odd : {n - 1, n / 2, n / 3, std::size_t{2}}) {
        std::vector<int64_t> list;
        for (std::size_t i = 0; i < n; ++i)
            list.push_back(static_cast<int64_t>(i * 8 + (i == odd)));
        std::size_t compared = 0;
        CHECK(period_of(list, std::vector<uint64_t>(n, 1), compared) == n);
        CHECK(compared < 6 * n);
    }
}

TEST_CASE("Divisors come in ascending order and all") {
    for (std::size_t n = 4; n < 3000; ++n) {
        std::vector<std::size_t> found, wanted;
        const auto keep = [&](std::size_t d) {
            found.push_back(d);
            return false;
        };
        REQUIRE(ucd::for_each_divisor(n, keep));
        for (std::size_t d = 1; d <= n / 2; ++d)
            if (n % d == 0) wanted.push_back(d);
        REQUIRE(found == wanted);
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

namespace {

// The same list by constructors that say it differently.
std::vector<BuiltType> descriptions(const std::vector<intptr_t> &displs,
                                    const std::vector<intptr_t> &lengths, intptr_t unit) {
    const auto count = static_cast<intptr_t>(displs.size());
    std::vector<intptr_t> bytes, byte_lengths;
    for (const intptr_t d : displs) bytes.push_back(d * unit);
    for (const intptr_t l : lengths) byte_lengths.push_back(l * unit);
    ucd_type_t piece, type;
    REQUIRE(ucd_create_contig(unit, UCD_TYPE__BYTE, UCD_INFO__NULL, &piece) == UCD_SUCCESS);
    const BuiltType owner(piece);
    std::vector<BuiltType> made;
    REQUIRE(ucd_create_indexed(count, lengths.data(), displs.data(), piece, UCD_INFO__NULL,
                               &type) == UCD_SUCCESS);
    made.emplace_back(type);
    REQUIRE(ucd_create_hindexed(count, byte_lengths.data(), bytes.data(), UCD_TYPE__BYTE,
                                UCD_INFO__NULL, &type) == UCD_SUCCESS);
    made.emplace_back(type);
    const std::vector<ucd_type_t> pieces(displs.size(), piece);
    REQUIRE(ucd_create_struct(count, lengths.data(), bytes.data(), pieces.data(), UCD_INFO__NULL,
                              &type) == UCD_SUCCESS);
    made.emplace_back(type);
    if (std::all_of(lengths.begin(), lengths.end(), [&](auto l) { return l == lengths[0]; })) {
        REQUIRE(ucd_create_indexed_block(count, lengths[0], displs.data(), piece, UCD_INFO__NULL,
                                         &type) == UCD_SUCCESS);
        made.emplace_back(type);
    }
    return made;
}

} // namespace

TEST_CASE("Long lists that are new are packed as they say, however they are described") {
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    run_cases("fresh lists", 150, [](Case &one) {
        Rng &rng = one.rng();
        const std::vector<intptr_t> units{1, 4, 8, 12, 16, 24, 64};
        const intptr_t unit = units[rng.below(units.size())];
        const std::size_t count = 2 + rng.mostly_small(9000);
        const bool equal = rng.chance(60), sorted = rng.chance(60);
        const intptr_t max_gap = static_cast<intptr_t>(1 + rng.below(6));
        std::vector<intptr_t> displs, lengths;
        intptr_t at = rng.between(0, 9);
        for (std::size_t i = 0; i < count; ++i) {
            lengths.push_back(equal ? 1 : rng.between(rng.chance(5) ? 0 : 1, 4));
            displs.push_back(at);
            at += lengths.back() + rng.between(0, max_gap);
        }
        if (!sorted)
            for (std::size_t i = count; i-- > 1;) {
                const std::size_t k = rng.below(i + 1);
                std::swap(displs[i], displs[k]);
                std::swap(lengths[i], lengths[k]);
            }
        std::vector<char> typed(static_cast<std::size_t>(at * unit)), wanted;
        for (char &c : typed) c = static_cast<char>(rng.bits());
        for (std::size_t i = 0; i < count; ++i)
            wanted.insert(wanted.end(), typed.begin() + displs[i] * unit,
                          typed.begin() + (displs[i] + lengths[i]) * unit);
        std::string form;
        for (const BuiltType &type : descriptions(displs, lengths, unit)) {
            const std::string found = form_of(type.get());
            if (form.empty()) form = found;
            if (found != form)
                one.fail("two normal forms:\n  ", shortened(form), "\n  ", shortened(found));
            std::vector<char> packed(wanted.size() + 16, 'g'), back(typed.size(), 0);
            uintptr_t moved = 0;
            if (ucd_pack(typed.data(), 1, type.get(), 0, packed.data(), wanted.size(), &moved,
                         UCD_INFO__NULL, UCD_OP__REPLACE) != UCD_SUCCESS ||
                moved != wanted.size() ||
                std::memcmp(packed.data(), wanted.data(), wanted.size()) != 0 ||
                packed[wanted.size()] != 'g')
                one.fail("packed wrongly: ", shortened(found));
            if (ucd_unpack(wanted.data(), wanted.size(), back.data(), 1, type.get(), 0, &moved,
                           UCD_INFO__NULL, UCD_OP__REPLACE) != UCD_SUCCESS)
                one.fail("unpack failed");
            for (std::size_t i = 0; i < count; ++i) {
                const auto bytes = static_cast<std::size_t>(lengths[i] * unit);
                if (std::memcmp(&back[static_cast<std::size_t>(displs[i] * unit)],
                                &typed[static_cast<std::size_t>(displs[i] * unit)], bytes) != 0)
                    one.fail("unpacked wrongly: ", shortened(found));
            }
        }
    });
    ucd_finalize();
}

} // namespace list_look_test
