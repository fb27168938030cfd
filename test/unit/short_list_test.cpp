// A list that allocates only for its second entry.
#include "support/catch.hpp"

#include "support/short_list.h"

#include <memory>
#include <vector>

namespace short_list_test {

namespace {

std::vector<int> entries_of(const ucd::ShortList<std::shared_ptr<int>> &list) {
    std::vector<int> entries;
    for (const std::shared_ptr<int> &entry : list) entries.push_back(*entry);
    return entries;
}

} // namespace

TEST_CASE("a short list that is cleared is as a new one, and holds on to nothing") {
    for (const int count : {0, 1, 2, 5}) {
        INFO(count << " entries");
        ucd::ShortList<std::shared_ptr<int>> list;
        std::vector<std::weak_ptr<int>> given;
        for (int i = 0; i < count; ++i) {
            auto entry = std::make_shared<int>(i);
            given.push_back(entry);
            list.push_back(std::move(entry));
        }
        list.clear();
        CHECK(list.empty());
        CHECK(list.begin() == list.end());
        for (const std::weak_ptr<int> &entry : given) CHECK(entry.expired());
        for (int i = 0; i < 3; ++i) {
            list.push_back(std::make_shared<int>(10 + i));
            CHECK(list.size() == static_cast<std::size_t>(i) + 1);
        }
        CHECK(entries_of(list) == std::vector<int>{10, 11, 12});
    }
}

} // namespace short_list_test
