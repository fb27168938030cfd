// Which batches are worth being remembered, and how new ones are divided.
#include "support/catch.hpp"

#include "transfer/batch_cache.h"
#include "transfer/batch_jobs.h"

#include <ucd.h>

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

TEST_CASE("a new batch is divided into one part for each thread that it is worth") {
    ucd::Dispatch dispatch;
    const auto parts = [&](std::size_t members, uint32_t threads) {
        dispatch.settings.limits.threads = threads;
        const std::vector<ucd_pack_desc_t> descs(members);
        ucd::BatchJobs<ucd_pack_desc_t> jobs(dispatch, descs);
        const unsigned divided = jobs.divide();
        std::size_t in_parts = 0;
        for (unsigned i = 0; divided > 1 && i < divided; ++i) in_parts += jobs.part(i).members();
        CHECK(in_parts == (divided > 1 ? members : 0));
        return divided;
    };
    CHECK(parts(10, 4) == 1);
    CHECK(parts(65535, 4) == 1);
    CHECK(parts(65536, 1) == 1);
    CHECK(parts(65536, 4) == 2);
    CHECK(parts(98305, 3) == 3);
}
