// The choice between copy engine and kernel that figures make.
#include "plan/copy_engines.h"

#include "support/catch.hpp"

namespace copy_engines_test {

using namespace ucd::gpu;

TEST_CASE("which of engine and kernel is faster for rows") {
    CopyEngines e;
    e.to_host = {.earlier = 2600,
                 .per_row = 1.3,
                 .per_odd_row = 0.8,
                 .kernel_per_byte = 0.02,
                 .row_per_byte = 0.0205,
                 .list_block = 1e18,
                 .host_distance = UINT64_MAX};
    e.from_host = e.to_host;
    e.from_host.per_row = 2.6;
    const auto engine = [&](uint64_t row, uint64_t rows, uint64_t bits = 0, bool to_host = true) {
        return is_engine_faster(
            e, {.to_host = to_host, .row = row, .rows = rows, .apart_on_host = 0, .bits = bits});
    };
    // 8 bytes: 1.14 ns a row more than a kernel, 2600 less in all.
    REQUIRE(engine(8, 2280));
    REQUIRE_FALSE(engine(8, 2282));
    REQUIRE_FALSE(engine(8, 2280, 0, false));
    REQUIRE(engine(8, 1000, 0, false));
    // 128 bytes: 0.064 ns a row more.
    REQUIRE(engine(128, 40000));
    REQUIRE_FALSE(engine(128, 41000));
    // The same, not aligned: 0.8 ns a row more.
    REQUIRE(engine(128, 3249, 8));
    REQUIRE_FALSE(engine(128, 3251, 8));
    // Long rows.
    REQUIRE_FALSE(engine(499, 10000000, 1));
    REQUIRE(engine(500, 10000000, 1));
    REQUIRE_FALSE(engine(255, 10000000));
    REQUIRE(engine(256, 10000000));
}

TEST_CASE("rows that are far apart in host memory go to the engine") {
    CopyEngines e;
    e.to_host = {.earlier = 0,
                 .per_row = 1.5,
                 .per_odd_row = 0.8,
                 .kernel_per_byte = 0.02,
                 .row_per_byte = 0.0205,
                 .list_block = 1e18,
                 .host_distance = 0};
    e.from_host = e.to_host;
    e.from_host.host_distance = 128;
    const auto engine = [&](bool to_host, uint64_t apart, uint64_t bits = 0) {
        return is_engine_faster(
            e, {.to_host = to_host, .row = 8, .rows = 9, .apart_on_host = apart, .bits = bits});
    };
    for (const uint64_t bits : {0, 1}) {
        REQUIRE_FALSE(engine(true, 0, bits));
        REQUIRE(engine(true, 9, bits));
        REQUIRE_FALSE(engine(false, 0, bits));
        REQUIRE_FALSE(engine(false, 127, bits));
        REQUIRE(engine(false, 128, bits));
    }
}

} // namespace copy_engines_test
