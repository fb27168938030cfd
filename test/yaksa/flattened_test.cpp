// Types of yaksa from bytes, which cannot be trusted.
#include "support/catch.hpp"

#include "yaksa_build.hpp"

#include <cstring>
#include <vector>

namespace flattened_test {

using namespace ucdtest;

// A double has an alignment of 8, which the struct's extent is rounded up to.
TEST_CASE("a type from bytes keeps its alignment") {
    const YaksaSession session;
    const yaksa_type_t pair[] = {YAKSA_TYPE__DOUBLE, YAKSA_TYPE__CHAR};
    const std::intptr_t ones[] = {1, 1}, displs[] = {0, 8}, after[] = {0, 16};
    yaksa_type_t original = 0, copy = 0, outer = 0;
    REQUIRE(yaksa_type_create_struct(2, ones, displs, pair, nullptr, &original) == YAKSA_SUCCESS);
    std::uintptr_t size = 0;
    REQUIRE(yaksa_flatten_size(original, &size) == YAKSA_SUCCESS);
    std::vector<char> bytes(size);
    REQUIRE(yaksa_flatten(original, bytes.data()) == YAKSA_SUCCESS);
    REQUIRE(yaksa_unflatten(&copy, bytes.data()) == YAKSA_SUCCESS);
    const yaksa_type_t members[] = {copy, YAKSA_TYPE__CHAR};
    REQUIRE(yaksa_type_create_struct(2, ones, after, members, nullptr, &outer) == YAKSA_SUCCESS);
    std::intptr_t lb = 7, extent = 7;
    REQUIRE(yaksa_type_get_extent(outer, &lb, &extent) == YAKSA_SUCCESS);
    CHECK((lb == 0 && extent == 24));
    for (const yaksa_type_t type : {original, copy, outer})
        REQUIRE(yaksa_type_free(type) == YAKSA_SUCCESS);
}

TEST_CASE("each byte of the header of a type from bytes is checked") {
    const YaksaSession session;
    yaksa_type_t type = 0;
    REQUIRE(yaksa_type_create_contig(3, YAKSA_TYPE__INT, nullptr, &type) == YAKSA_SUCCESS);
    std::uintptr_t size = 0;
    REQUIRE(yaksa_flatten_size(type, &size) == YAKSA_SUCCESS);
    std::vector<std::uint8_t> bytes(size);
    REQUIRE(yaksa_flatten(type, bytes.data()) == YAKSA_SUCCESS);
    REQUIRE(yaksa_type_free(type) == YAKSA_SUCCESS);
    const auto unflattened = [&](std::size_t at, std::uint8_t value) {
        std::vector<std::uint8_t> changed = bytes;
        changed[at] = value;
        yaksa_type_t made = 7;
        const int rc = yaksa_unflatten(&made, changed.data());
        CHECK((made == 7) == (rc != YAKSA_SUCCESS));
        if (rc == YAKSA_SUCCESS) CHECK(yaksa_type_free(made) == YAKSA_SUCCESS);
        return rc;
    };
    for (std::size_t at = 0; at < 4; ++at) CHECK(unflattened(at, '?') == YAKSA_ERR__INTERNAL);
    CHECK(unflattened(4, 0) == YAKSA_ERR__INTERNAL);
    CHECK(unflattened(4, 1) == YAKSA_SUCCESS);
    CHECK(unflattened(4, 2) == YAKSA_ERR__NOT_SUPPORTED);
    CHECK(unflattened(5, 12) == YAKSA_SUCCESS);
    CHECK(unflattened(5, 13) == YAKSA_ERR__INTERNAL);
    CHECK(unflattened(6, 1) == YAKSA_SUCCESS);
    CHECK(unflattened(6, 2) == YAKSA_ERR__INTERNAL);
    CHECK(unflattened(7, 1) == YAKSA_ERR__INTERNAL);
}

// The bytes say how many they are, so the memory must be as long: what is changed beyond that
// number would be read for it.
TEST_CASE("changed bytes of types are refused or are types") {
    const YaksaSession session;
    run_cases("yaksa hostile", 3000, [](Case &one) {
        Rng &rng = one.rng();
        const YaksaSubject subject = random_yaksa_subject(one);
        std::uintptr_t size = 0;
        succeed(one, yaksa_flatten_size(subject.type(), &size), "flatten_size");
        std::vector<std::uint8_t> bytes(size);
        succeed(one, yaksa_flatten(subject.type(), bytes.data()), "flatten");
        const std::vector<std::uint8_t> original = bytes;
        for (std::size_t i = 1 + rng.below(3); i > 0; --i) {
            // Its length is in bytes 16 to 23.
            std::size_t at = rng.below(size);
            if (at >= 16 && at < 24) at = rng.below(8);
            bytes[at] ^= static_cast<std::uint8_t>(1 + rng.below(255));
        }
        yaksa_type_t made = 7;
        const int rc = yaksa_unflatten(&made, bytes.data());
        if (rc == YAKSA_SUCCESS) {
            // Header bytes that are valid otherwise: another alignment.
            if (std::memcmp(bytes.data() + 8, original.data() + 8, size - 8) != 0)
                one.fail("changed bytes were accepted");
            const YaksaType type(made);
            std::uintptr_t extent_of_two = 0;
            succeed(one, yaksa_type_get_size(type.get(), &extent_of_two), "get_size");
        } else if (made != 7) {
            one.fail("a refused type was written");
        }
    });
}

} // namespace flattened_test
