// The shortest period of a list, against the definition tried with every number.
#include "layout/normalise/period.h"

#include "support/catch.hpp"
#include "support/random/rng.hpp"

#include <utility>
#include <vector>

namespace period_test {

using namespace ucdtest;

namespace {

struct Item {
    int step, entry; // `step`: to this one from the one before
};

bool has_period(const std::vector<Item> &list, std::size_t p) {
    for (std::size_t i = p; i < list.size(); ++i) {
        if (list[i].entry != list[i - p].entry) return false;
        if (i > p && list[i].step != list[i - p].step) return false;
    }
    return true;
}

std::size_t by_definition(const std::vector<Item> &list) {
    for (std::size_t p = 1; p <= list.size() / 2; ++p)
        if (list.size() % p == 0 && has_period(list, p)) return p;
    return list.size();
}

// A part of random items, again and again, now and then with a wrong one.
std::vector<Item> random_list(Rng &rng) {
    const int kinds = rng.chance(50) ? 2 : 3;
    std::vector<Item> part(1 + rng.below(9)), list;
    for (Item &item : part)
        item = {static_cast<int>(rng.between(1, kinds)), static_cast<int>(rng.between(1, kinds))};
    for (std::size_t times = 1 + rng.below(9); times > 0; --times)
        list.insert(list.end(), part.begin(), part.end());
    // What leads to the first one is nobody's.
    list[0].step = 77;
    if (rng.chance(40)) list[rng.below(list.size())].entry = 9;
    if (rng.chance(40)) list[rng.below(list.size())].step = 9;
    return list;
}

} // namespace

TEST_CASE("periods are those that the definition gives") {
    Rng rng(62);
    std::size_t periodic = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::vector<Item> list = random_list(rng);
        if (list.size() < 4) continue;
        const auto same_step = [&](std::size_t a, std::size_t b) {
            return list.at(a).step == list.at(b).step;
        };
        const auto same_entry = [&](std::size_t a, std::size_t b) {
            return list.at(a).entry == list.at(b).entry;
        };
        const std::size_t expected = by_definition(list);
        periodic += expected < list.size();
        INFO("list " << i << " of " << list.size());
        REQUIRE(ucd::shortest_period(list.size(), same_step, same_entry) == expected);
        REQUIRE(ucd::shortest_period_by_borders(list.size(), same_step, same_entry) == expected);
    }
    CHECK(periodic > 2000);
}

TEST_CASE("a period is found after many divisors that are no periods but for the last entries") {
    // Each of them is refuted half a list later, so that they are given up after a few.
    std::vector<Item> list(5040, {1, 1});
    const std::size_t half = list.size() / 2;
    list[half - 1].entry = list.back().entry = 2;
    const auto same_step = [](std::size_t, std::size_t) { return true; };
    const auto same_entry = [&](std::size_t a, std::size_t b) {
        return list.at(a).entry == list.at(b).entry;
    };
    CHECK(ucd::shortest_period(list.size(), same_step, same_entry) == half);
    list.back().entry = 1;
    CHECK(ucd::shortest_period(list.size(), same_step, same_entry) == list.size());
}

TEST_CASE("lists of fewer than four entries have no period") {
    const auto same = [](std::size_t, std::size_t) { return true; };
    for (std::size_t n = 0; n < 4; ++n) CHECK(ucd::shortest_period(n, same, same) == n);
    CHECK(ucd::shortest_period(4, same, same) == 1);
}

TEST_CASE("divisors come in ascending order, up to the half") {
    const auto check = [](std::size_t n, const std::vector<std::size_t> &expected) {
        std::vector<std::size_t> found;
        CHECK(ucd::for_each_divisor(n, [&](std::size_t d) {
            found.push_back(d);
            return false;
        }));
        INFO(n);
        CHECK(found == expected);
    };
    for (std::size_t n = 4; n < 1000; ++n) {
        std::vector<std::size_t> expected;
        for (std::size_t d = 1; d <= n / 2; ++d)
            if (n % d == 0) expected.push_back(d);
        check(n, expected);
    }
    // More than 32 bits, about the limit of short divisions.
    std::vector<std::size_t> powers;
    for (int bit = 0; bit < 32; ++bit) powers.push_back(std::size_t{1} << bit);
    check(std::size_t{1} << 32, powers);
    check(0xffffffff,
          {1,        3,        5,        15,        17,        51,        85,        255,
           257,      771,      1285,     3855,      4369,      13107,     21845,     65535,
           65537,    196611,   327685,   983055,    1114129,   3342387,   5570645,   16711935,
           16843009, 50529027, 84215045, 252645135, 286331153, 858993459, 1431655765});
    // So many that not all are kept.
    std::size_t last = 0, number = 0;
    CHECK_FALSE(ucd::for_each_divisor(963761198400, [&](std::size_t d) {
        CHECK(d > last);
        last = d;
        ++number;
        return false;
    }));
    CHECK(number > 2000);
    // It ends with the first that is taken.
    std::size_t asked = 0;
    CHECK(ucd::for_each_divisor(36, [&](std::size_t d) {
        asked = d;
        return d == 9;
    }));
    CHECK(asked == 9);
}

} // namespace period_test
