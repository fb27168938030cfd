// Which batches are worth being remembered.
#include "support/catch.hpp"

#include "transfer/batch_cache.h"

TEST_CASE("a batch comes again at its second time") {
    ucd::BatchCache cache;
    const ucd::Dispatch dispatch;
    ucd::Dispatch other;
    other.settings.limits.max_blocks = 7;
    CHECK_FALSE(cache.comes_again(dispatch, 100, 1));
    CHECK_FALSE(cache.comes_again(dispatch, 100, 2));
    CHECK_FALSE(cache.comes_again(dispatch, 101, 1));
    CHECK_FALSE(cache.comes_again(other, 100, 1));
    CHECK(cache.comes_again(dispatch, 100, 1));
    CHECK(cache.comes_again(other, 100, 1));
}

// They have one digest if they differ where it does not look.
TEST_CASE("batches that are nearly alike are hardly ever remembered") {
    ucd::BatchCache cache;
    int times = 0;
    for (int call = 0; call < 1000; ++call) times += cache.comes_again(ucd::Dispatch(), 100000, 1);
    CHECK(times >= 1);
    CHECK(times <= 10);
}
