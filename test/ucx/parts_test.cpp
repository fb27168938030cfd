// Parts of libucd-ucx by themselves, each against a model that is written another way.

#include "common/byte_ranges.h"
#include "common/failure.h"
#include "common/queue.h"
#include "common/tokens.h"
#include "datatype/options.h"
#include "engine/am_claim.h"
#include "engine/engine.h"
#include "engine/version.h"
#include "memory/staging.h"
#include "rma/rma_target.h"
#include "support/catch.hpp"
#include "support/random/rng.hpp"
#include "ucx/pair.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <ucd_ucx.h>
#include <utility>
#include <vector>

namespace parts_test {

using namespace ucdtest;
using namespace ucd_ucx;

TEST_CASE("ids of contents are the same if all of their bytes are") {
    ContentId one;
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = static_cast<uint8_t>(17 * i + 3);
    ContentId other = one;
    CHECK(same(one, other));
    for (std::size_t byte = 0; byte < one.size(); ++byte)
        for (unsigned bit = 0; bit < 8; ++bit) {
            other = one;
            other[byte] = static_cast<uint8_t>(other[byte] ^ 1U << bit);
            INFO("byte " << byte << ", bit " << bit);
            CHECK_FALSE(same(one, other));
            CHECK(HashOfId()(one) != HashOfId()(other));
        }
    // Differences in both halves that would cancel each other out.
    for (std::size_t byte = 0; byte < 8; ++byte) {
        other = one;
        for (const std::size_t at : {byte, byte + 8})
            other[at] = static_cast<uint8_t>(other[at] ^ 0x5a);
        CHECK_FALSE(same(one, other));
    }
}

TEST_CASE("ids that differ in all bytes are not the same") {
    ContentId zeros{}, ones;
    ones.fill(0xff);
    CHECK_FALSE(same(zeros, ones));
    CHECK(same(ones, ones));
}

// Threads that make progress with several objects of one worker must not be in UCX at once.
TEST_CASE("the objects of a worker share a lock, and those of another one have their own") {
    char places[3];
    for (const int order : {0, 1, 2}) { // which one of the workers is the first in memory
        const auto worker = [&](int i) {
            return reinterpret_cast<ucp_worker_h>(&places[(order + i) % 3]);
        };
        AmClaim claims[3][2];
        for (const unsigned id : {0U, 1U})
            for (int i = 0; i < 3; ++i) REQUIRE(claims[i][id].take(worker(i), 7 + id, true).ok());
        for (int i = 0; i < 3; ++i) {
            CHECK(&claims[i][0].progress_lock() == &claims[i][1].progress_lock());
            CHECK(&claims[i][0].progress_lock() != &claims[(i + 1) % 3][0].progress_lock());
        }
    }
}

TEST_CASE("bytes that have come are each noted once") {
    Rng rng(62);
    for (int round = 0; round < 200; ++round) {
        constexpr std::size_t size = 64;
        ByteRanges ranges;
        std::set<std::size_t> come;
        for (int i = 0; i < 60; ++i) {
            const std::size_t begin = rng.below(size), bytes = rng.below(6);
            bool known = false;
            for (std::size_t k = begin; k < begin + bytes; ++k) known |= come.count(k) > 0;
            REQUIRE(ranges.add(begin, bytes) == !known);
            if (!known)
                for (std::size_t k = begin; k < begin + bytes; ++k) come.insert(k);
            REQUIRE(ranges.total() == come.size());
        }
    }
}

TEST_CASE("separate ranges are limited, and joined ones take no place") {
    ByteRanges ranges;
    for (std::size_t i = 0; i < ByteRanges::max_ranges; ++i) REQUIRE(ranges.add(4 * i, 2));
    const uint64_t behind = 4 * ByteRanges::max_ranges;
    CHECK_FALSE(ranges.add(behind, 2));
    CHECK(ranges.total() == 2 * ByteRanges::max_ranges);
    CHECK(ranges.add(2, 1)); // longer at its end
    CHECK_FALSE(ranges.add(behind, 2));
    CHECK(ranges.add(3, 1)); // joins two
    CHECK(ranges.add(behind, 2));
    CHECK_FALSE(ranges.add(behind + 4, 2));
    CHECK(ranges.add(behind - 1, 1)); // longer at its beginning
    CHECK_FALSE(ranges.add(behind + 4, 2));
}

TEST_CASE("a queue gives what was put into it, in that order") {
    struct Element {
        int number;
        Element *next;
    };
    Rng rng(63);
    std::vector<Element> elements(500);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i].number = static_cast<int>(i);
    Queue<Element> queue;
    std::size_t in = 0, out = 0;
    while (out < elements.size()) {
        CHECK(queue.empty() == (in == out));
        if (!queue.empty()) CHECK(queue.front().number == static_cast<int>(out));
        if (in < elements.size() && (in == out || rng.chance(60))) {
            queue.push(elements[in++]);
        } else {
            CHECK(queue.pop().number == static_cast<int>(out));
            ++out;
        }
        if (rng.chance(20)) {
            Queue<Element> moved(std::move(queue));
            CHECK(queue.empty());
            queue = std::move(moved);
            CHECK(moved.empty());
        }
    }
    CHECK(queue.empty());
}

namespace {

// What the staging memory has taken from its user.
struct Heap {
    std::size_t bytes = 0, blocks = 0, calls = 0;
    bool refuses = false;

    ucd_ucx_params_t params() {
        ucd_ucx_params_t p = {};
        p.memory_arg = this;
        p.allocate = [](std::size_t size, void *heap) -> void * {
            auto &self = *static_cast<Heap *>(heap);
            if (self.refuses) return nullptr;
            self.bytes += size;
            ++self.blocks;
            ++self.calls;
            return std::malloc(size);
        };
        p.release = [](void *memory, std::size_t size, void *heap) {
            auto &self = *static_cast<Heap *>(heap);
            self.bytes -= size;
            --self.blocks;
            std::free(memory);
        };
        return p;
    }
};

} // namespace

TEST_CASE("staging memory is used again, and stays within its limit") {
    Heap heap;
    {
        Staging staging(heap.params(), 1000);
        StagingBlock a = staging.take(400, false), b = staging.take(600, false);
        CHECK((a && b));
        CHECK((heap.bytes == 1000 && heap.blocks == 2));
        CHECK_FALSE(staging.take(1, false));
        CHECK(heap.bytes == 1000);
        const char *const was = a.memory();
        a = StagingBlock();
        CHECK(heap.bytes == 1000); // kept
        a = staging.take(400, false);
        CHECK((a.memory() == was && heap.calls == 2));
        a = StagingBlock();
        a = staging.take(200, false); // not less than half of what it is
        CHECK((a.memory() == was && heap.calls == 2));
        a = StagingBlock();
        a = staging.take(199, false); // the larger one goes, so that there is room
        CHECK((a && heap.bytes == 799 && heap.calls == 3));
        // What is urgent comes beyond the limit, and is not kept.
        StagingBlock c = staging.take(500, true);
        CHECK((c && heap.bytes == 1299));
        c = StagingBlock();
        CHECK((heap.bytes == 799 && heap.blocks == 2));
        // What is as large as the limit allows.
        c = staging.take(201, false);
        CHECK((c && heap.bytes == 1000));
        // A larger one than what is free: that goes, if there would not be room else.
        c = StagingBlock();
        c = staging.take(202, false);
        CHECK_FALSE(c);
        CHECK(heap.bytes == 799);
    }
    CHECK((heap.bytes == 0 && heap.blocks == 0));
}

TEST_CASE("staging memory gives free blocks back before it fails") {
    Heap heap;
    {
        Staging staging(heap.params(), 10000);
        StagingBlock a = staging.take(100, false), b = staging.take(100, false);
        b = StagingBlock();
        CHECK(heap.blocks == 2);
        heap.refuses = true;
        CHECK_FALSE(staging.take(300, false));
        CHECK(heap.blocks == 1);
        heap.refuses = false;
        // As long as there is room beside them, they stay.
        for (const std::size_t bytes : {300, 700, 1500}) {
            CHECK(staging.take(bytes, false));
            CHECK(heap.blocks == (bytes == 300 ? 2U : bytes == 700 ? 3U : 4U));
        }
        b = std::move(a);
        CHECK((b && !a));
    }
    CHECK((heap.bytes == 0 && heap.blocks == 0));
}

TEST_CASE("numbers of an info have limits that they may reach") {
    const struct {
        const char *text;
        bool good;
    } cases[] = {{"5", true},   {"9", true},   {"4", false},  {"10", false},
                 {"7", true},   {"", true},    {"7x", false}, {"x", false},
                 {" 7", false}, {"-7", false}, {"+7", false}};
    for (const auto &c : cases) {
        INFO('"' << c.text << '"');
        Keys keys;
        keys.set("ucd.ucx.depth", c.text);
        uint64_t number = 77;
        CHECK(read_number(keys.get(), "ucd.ucx.depth", 5, 9, number).ok() == c.good);
        const bool is_set = c.good && c.text[0] != 0;
        CHECK(number == (is_set ? static_cast<uint64_t>(c.text[0] - '0') : 77));
    }
}

namespace {

// The value of a key at its limit, and one beyond it.
struct Limit {
    const char *key, *good, *bad;
};
template <std::size_t n, class Read>
void check_limits(const Limit (&limits)[n], Read read) {
    for (const Limit &l : limits) {
        INFO(l.key << ": " << l.good << ", not " << l.bad);
        CHECK(read(Keys({{l.key, l.good}}).get()).ok());
        CHECK(read(Keys({{l.key, l.bad}}).get()).code() == UCD_ERR__INVALID_ARG);
    }
}

} // namespace

TEST_CASE("options of transfers have their defaults and their limits") {
    TransferOptions options;
    REQUIRE(read_transfer_options(UCD_INFO__NULL, options).ok());
    CHECK((options.eager == TransferOptions::unset && options.chunk == TransferOptions::unset));
    CHECK(options.packing == Packing::automatic);
    CHECK((options.depth_or(4) == 4 && options.ring && options.ring_chunk == 8388608));
    CHECK((options.ring_depth == 8 && options.ring_expose));
    CHECK((options.direct == Trust::none && options.direct_bytes == TransferOptions::unset));
    CHECK(options.timeout.count() == 0);
    CHECK((options.eager_or(3) == 3 && options.direct_or(3) == 3));
    CHECK(options.chunk_or(3) == 3);

    Keys keys({{"ucd.ucx.eager", "0"},
               {"ucd.ucx.chunk", "1073741824"},
               {"ucd.ucx.depth", "1024"},
               {"ucd.ucx.pack", "ucx"},
               {"ucd.ucx.ring", "none"},
               {"ucd.ucx.ring_chunk", "1"},
               {"ucd.ucx.ring_depth", "1"},
               {"ucd.ucx.ring_expose", "no"},
               {"ucd.ucx.direct", "yes"},
               {"ucd.ucx.direct_bytes", "0"},
               {"ucd.ucx.timeout", "1.5"}});
    REQUIRE(read_transfer_options(keys.get(), options).ok());
    CHECK((options.eager == 0 && options.eager_or(3) == 0 && options.chunk_or(3) == 1073741824));
    CHECK(options.packing == Packing::ucx);
    CHECK((options.depth == 1024 && !options.ring && options.ring_chunk == 1));
    CHECK((options.ring_depth == 1 && !options.ring_expose));
    CHECK((options.direct == Trust::full && options.direct_or(3) == 0));
    CHECK(options.timeout == std::chrono::milliseconds(1500));

    const Limit limits[] = {{"ucd.ucx.eager", "1073741824", "1073741825"},
                            {"ucd.ucx.chunk", "1", "0"},
                            {"ucd.ucx.chunk", "1073741824", "1073741825"},
                            {"ucd.ucx.depth", "1", "0"},
                            {"ucd.ucx.depth", "1024", "1025"},
                            {"ucd.ucx.pack", "auto", "no"},
                            {"ucd.ucx.pack", "chunk", "chunks"},
                            {"ucd.ucx.ring", "auto", "yes"},
                            {"ucd.ucx.ring_chunk", "1", "0"},
                            {"ucd.ucx.ring_chunk", "1073741824", "1073741825"},
                            {"ucd.ucx.ring_depth", "1", "0"},
                            {"ucd.ucx.ring_depth", "1024", "1025"},
                            {"ucd.ucx.ring_expose", "yes", "auto"},
                            {"ucd.ucx.direct", "always", "auto"},
                            {"ucd.ucx.direct", "no", "none"},
                            {"ucd.ucx.timeout", "0", "-1"},
                            {"ucd.ucx.timeout", "1e9", "1.1e9"},
                            {"ucd.ucx.timeout", "0.25", "nan"},
                            {"ucd.ucx.timeout", "1", "1 s"},
                            {"ucd.ucx.timeout", "", "soon"},
                            {"ucd.ucx.timeout", "2", "2s"}};
    check_limits(limits, [&](ucd_info_t info) { return read_transfer_options(info, options); });
}

TEST_CASE("what peers may take has its limits") {
    const Limit limits[] = {{"ucd.ucx.staging", "0", "-1"},
                            {"ucd.ucx.ring_staging", "0", "-1"},
                            {"ucd.ucx.peer_memory", "1048576", "1048575"},
                            {"ucd.ucx.peers_memory", "1048576", "1048575"},
                            {"ucd.ucx.rma.types", "0", "-1"}};
    check_limits(limits, [](ucd_info_t info) {
        EngineSettings settings;
        return settings.read(info);
    });
}

TEST_CASE("what UCX says becomes a status of libucd's") {
    const std::pair<ucs_status_t, int> statuses[] = {{UCS_OK, UCD_SUCCESS},
                                                     {UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM},
                                                     {UCS_ERR_UNSUPPORTED, UCD_ERR__NOT_SUPPORTED},
                                                     {UCS_ERR_INVALID_PARAM, UCD_ERR__INVALID_ARG},
                                                     {UCS_ERR_IO_ERROR, UCD_ERR__DEVICE}};
    for (const auto &[status, code] : statuses) CHECK(ucx_ok(status, "a call").code() == code);
}

TEST_CASE("a header of version 2 is known by its letters, if it is long enough") {
    for (const std::string letters : {"2DCU", "UCD2"}) {
        CHECK(is_transfer_of_version_2(letters + std::string(44, 'x')));
        CHECK(is_transfer_of_version_2(letters + std::string(100, 'x')));
        CHECK_FALSE(is_transfer_of_version_2(letters + std::string(43, 'x')));
    }
    CHECK_FALSE(is_transfer_of_version_2("UCD3" + std::string(44, 'x')));
}

TEST_CASE("what peers may take has its defaults") {
    const auto staging = std::make_unique<StagingLimits>();
    CHECK((staging->host == 67108864 && staging->ring == 268435456));
    const auto budgets = std::make_unique<Ledger::Limits>();
    CHECK((budgets->peer == 268435456 && budgets->peers == 1073741824));
    CHECK(budgets->remembered == 16777216);
    CHECK(EngineSettings().peer_operations == 65536);
}

TEST_CASE("options of preparing have their defaults and their limits") {
    PrepareOptions options;
    REQUIRE(read_prepare_options(UCD_INFO__NULL, options).ok());
    CHECK((options.form == DatatypeForm::automatic && options.iov_segment == 3072));
    CHECK(options.iov_entries == 1 << 20);
    const struct {
        const char *text;
        DatatypeForm form;
    } forms[] = {{"contiguous", DatatypeForm::contiguous},
                 {"iov", DatatypeForm::iov},
                 {"generic", DatatypeForm::generic}};
    for (const auto &f : forms) {
        REQUIRE(read_prepare_options(Keys({{"ucd.ucx.form", f.text}}).get(), options).ok());
        CHECK(options.form == f.form);
    }
    const Limit limits[] = {{"ucd.ucx.form", "auto", "none"},
                            {"ucd.ucx.iov_segment", "1", "0"},
                            {"ucd.ucx.iov_segment", "9223372036854775807", "9223372036854775808"},
                            {"ucd.ucx.iov_entries", "1", "0"},
                            {"ucd.ucx.iov_entries", "1048576", "1048577"}};
    check_limits(limits, [&](ucd_info_t info) { return read_prepare_options(info, options); });
}

} // namespace parts_test
