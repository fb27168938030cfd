// A duplicate costs nothing: it has the layout and the plans of its original.

#include "prepared/type_cache.h"
#include "support/catch.hpp"

#include <ucd.h>

namespace {

const ucd::Type &type_behind(ucd_type_t handle) {
    return *reinterpret_cast<const ucd::Type *>(handle);
}

} // namespace

TEST_CASE("duplicates share what is derived from their original") {
    ucd_type_t original, first, second;
    REQUIRE(ucd_create_vector(100, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &original) == UCD_SUCCESS);
    REQUIRE(ucd_create_dup(original, UCD_INFO__NULL, &first) == UCD_SUCCESS);
    REQUIRE(ucd_create_dup(first, UCD_INFO__NULL, &second) == UCD_SUCCESS);
    CHECK(first != original);
    const ucd::TypeCache *cache = &ucd::cache_of(type_behind(second));
    CHECK(cache == &ucd::cache_of(type_behind(original)));
    CHECK(cache == &ucd::cache_of(type_behind(first)));

    // Whichever goes last.
    int in[200] = {}, out[100];
    in[198] = 7;
    uintptr_t moved;
    REQUIRE(ucd_free(&original) == UCD_SUCCESS);
    REQUIRE(ucd_free(&first) == UCD_SUCCESS);
    REQUIRE(ucd_pack(in, 1, second, 0, out, sizeof out, &moved, UCD_INFO__NULL, UCD_OP__REPLACE) ==
            UCD_SUCCESS);
    CHECK(out[99] == 7);
    REQUIRE(ucd_free(&second) == UCD_SUCCESS);

    ucd_type_t of_predefined;
    REQUIRE(ucd_create_dup(UCD_TYPE__DOUBLE, UCD_INFO__NULL, &of_predefined) == UCD_SUCCESS);
    CHECK(ucd::layout_of(type_behind(of_predefined)).nodes.size() == 1);
    REQUIRE(ucd_free(&of_predefined) == UCD_SUCCESS);
}
