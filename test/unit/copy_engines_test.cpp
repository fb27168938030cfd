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
                 .list_block = 1e18};
    e.from_host = e.to_host;
    e.from_host.per_row = 2.6;
    const auto engine = [&](uint64_t row, uint64_t rows, uint64_t bits = 0, bool to_host = true) {
        return is_engine_faster(e, to_host, row, rows, bits);
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
    REQUIRE_FALSE(engine(999, 10000000, 1));
    REQUIRE(engine(1000, 10000000, 1));
}

} // namespace copy_engines_test
