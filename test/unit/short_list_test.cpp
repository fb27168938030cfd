// A list that allocates only for more than N entries.
#include "support/catch.hpp"

#include "support/short_list.h"

#include <memory>
#include <vector>

namespace short_list_test {

namespace {

template <std::size_t N>
using List = ucd::ShortList<std::shared_ptr<int>, N>;

template <std::size_t N>
std::vector<int> entries_of(const List<N> &list) {
    std::vector<int> entries;
    for (const std::shared_ptr<int> &entry : list) entries.push_back(*entry);
    return entries;
}

// Adds so many entries, from 0 on.
template <std::size_t N>
std::vector<std::weak_ptr<int>> fill(List<N> &list, int count) {
    std::vector<std::weak_ptr<int>> given;
    for (int i = 0; i < count; ++i) {
        auto entry = std::make_shared<int>(i);
        given.push_back(entry);
        list.push_back(std::move(entry));
        CHECK(list.size() == static_cast<std::size_t>(i) + 1);
    }
    return given;
}

template <std::size_t N>
void check_clear(int count) {
    List<N> list;
    const auto given = fill<N>(list, count);
    list.clear();
    CHECK(list.empty());
    CHECK(list.begin() == list.end());
    for (const std::weak_ptr<int> &entry : given) CHECK(entry.expired());
    fill<N>(list, 4);
    CHECK(entries_of<N>(list) == std::vector<int>{0, 1, 2, 3});
}

template <std::size_t N>
void check_pop(int count) {
    List<N> list;
    const auto given = fill<N>(list, count);
    for (std::vector<int> left = entries_of<N>(list); !left.empty();) {
        list.pop_back();
        left.pop_back();
        CHECK(entries_of<N>(list) == left);
        CHECK(given[left.size()].expired());
    }
}

} // namespace

TEST_CASE("a short list that is cleared is as a new one, and holds on to nothing") {
    for (const int count : {0, 1, 2, 3, 5}) {
        INFO(count << " entries");
        check_clear<1>(count);
        check_clear<2>(count);
    }
}

TEST_CASE("a short list holds on to nothing that was taken from its end") {
    for (const int count : {1, 2, 3, 5}) {
        INFO(count << " entries");
        check_pop<1>(count);
        check_pop<2>(count);
    }
}

} // namespace short_list_test
