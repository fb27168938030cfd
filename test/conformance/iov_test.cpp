// I/O vectors of more segments than could be listed. (walk_test.cpp compares those of random types,
// from every segment and in every part.)
#include "support/catch.hpp"

#include "support/moves/listings.hpp"

namespace iov_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

TEST_CASE("I/O vectors count far beyond what could be listed") {
    // 2^40 segments; skipping must not walk.
    const BuiltType type(vector(1 << 20, 1, 2, leaf(UCD_TYPE__INT)));
    const std::uintptr_t count = std::uintptr_t{1} << 20;
    std::uintptr_t length = 0, bytes = 0, written = 0;
    // Elements are (2^21 - 1) * 4 bytes apart, so the last piece of each touches the next one's.
    REQUIRE(ucd_iov_len(count, type.get(), &length) == UCD_SUCCESS);
    REQUIRE(length == count * ((1 << 20) - 1) + 1);
    iovec entry = {};
    REQUIRE(ucd_iov(nullptr, count, type.get(), length - 1, &entry, 1, &written) == UCD_SUCCESS);
    REQUIRE((written == 1 && entry.iov_len == 4));
    REQUIRE(reinterpret_cast<std::uintptr_t>(entry.iov_base) == count * ((1 << 21) - 1) * 4 - 4);
    const std::uintptr_t offset = (count / 2) * (4 << 20) + 6;
    REQUIRE(ucd_iov_bytes(nullptr, count, type.get(), offset, 1, &entry, 1, &written, &bytes) ==
            UCD_SUCCESS);
    REQUIRE((written == 1 && bytes == 1 && entry.iov_len == 1));
    REQUIRE(reinterpret_cast<std::uintptr_t>(entry.iov_base) ==
            (count / 2) * ((1 << 21) - 1) * 4 + 8 + 2);
}

} // namespace iov_test
