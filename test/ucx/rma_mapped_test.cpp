// Windows on memory that the library allocates: operations that are done in a mapping of it, and
// what ends them.

#include "api/object.h"
#include "rma/window_memory.h"
#include "support/device_test.hpp"
#include "support/random/random_cases.hpp"
#include "ucx/rma_access.hpp"
#include "ucx/rma_by_hand.hpp"

#include <atomic>
#include <fcntl.h>
#include <numeric>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>

namespace rma_mapped_test {

using namespace ucdtest;
using ucd_ucx::FileDescriptor;
using ucd_ucx::rma::WindowMemory;

namespace {

constexpr std::size_t ints = 30000;

struct Mapped {
    RmaPair pair{trusting};
    AllocatedWindow window{pair.b, ints};
    Mapped() { REQUIRE(becomes_direct(pair, &window.key, 1)); }
};

uint64_t blocks_of(int descriptor) {
    struct stat found = {};
    REQUIRE(::fstat(descriptor, &found) == 0);
    return static_cast<uint64_t>(found.st_blocks);
}

} // namespace

DEVICE_TEST("allocated windows: operations of every kind and of few bytes need no message") {
    Mapped m;
    REQUIRE(m.window.memory != nullptr);
    CHECK(std::all_of(m.window.memory, m.window.memory + ints, [](int i) { return i == 0; }));
    for (const std::size_t n : {std::size_t{1}, std::size_t{16}, std::size_t{10000}})
        for (const What what : every) {
            CAPTURE(n, static_cast<int>(what));
            std::iota(m.window.memory, m.window.memory + ints, 0);
            RmaTestOperation operation(n);
            std::fill(operation.in.begin(), operation.in.end(), 100);
            CHECK(is_direct(m.pair, what, operation, &m.window.key, 8 * sizeof(int)));
            CHECK(operation.status() == UCS_OK);
            CHECK(operation.o.result.bytes == n * sizeof(int));
            const bool fetches = what == What::get || what == What::get_accumulate;
            for (std::size_t i = 0; i < n; ++i)
                REQUIRE(operation.out[i] == (fetches ? static_cast<int>(8 + i) : -1));
            for (std::size_t i = 0; i < ints; ++i) {
                const int old = static_cast<int>(i);
                const bool touched = i >= 8 && i < 8 + n;
                const int expected = !touched || what == What::get ? old
                                     : what == What::put           ? 100
                                                                   : old + 100;
                REQUIRE(m.window.memory[i] == expected);
            }
        }
    // One operation may say no; and long accumulates, which others would wait for, are messages.
    RmaTestOperation many(ints);
    CHECK_FALSE(is_direct(m.pair, What::accumulate, many, &m.window.key));
    CHECK(many.status() == UCS_OK);
}

DEVICE_TEST("allocated windows: what would keep others waiting is a message") {
    RmaPair pair(trusting);
    const AllocatedWindow window(pair.b, (1 << 18) + 1);
    REQUIRE(becomes_direct(pair, &window.key, 1));
    for (const What what : every) {
        CAPTURE(static_cast<int>(what));
        const bool accumulates = what == What::accumulate || what == What::get_accumulate;
        const std::size_t most = accumulates ? 1 << 14 : 1 << 18; // 64 KiB, 1 MiB
        for (const std::size_t n : {most, most + 1}) {
            RmaTestOperation operation(n);
            CHECK(is_direct(pair, what, operation, &window.key) == (n == most));
            CHECK(operation.status() == UCS_OK);
        }
    }
}

DEVICE_TEST("allocated windows: layouts to layouts, against a walk of their ints") {
    Mapped m;
    const auto seed = static_cast<unsigned>(session_seed());
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 200; ++round) {
        const std::size_t n = 1 + random() % (round % 2 == 0 ? 20 : 3000);
        const Blocks there(random, n, 1 + random() % 40, 1 + random() % 6);
        const Blocks here(random, n, 1 + random() % 40, 1 + random() % 6);
        const std::size_t skipped = random() % 1000;
        if (skipped + there.end() > ints) continue;
        std::generate(m.window.memory, m.window.memory + ints,
                      [&] { return static_cast<int>(random() % 1000); });
        std::vector<int> own(here.end() + 10), result(own.size(), -5);
        std::generate(own.begin(), own.end(), [&] { return static_cast<int>(random() % 1000); });
        std::vector<int> window(m.window.memory, m.window.memory + ints);
        const std::vector<int> sent = own;
        std::vector<int> expected = result;
        const What what = every[random() % 4];
        const bool fetches = what == What::get || what == What::get_accumulate;
        for (std::size_t i = 0; i < n; ++i) {
            int &target = window[skipped + there.places[i]];
            if (fetches) expected[here.places[i]] = target;
            if (what == What::put) target = own[here.places[i]];
            if (what == What::accumulate || what == What::get_accumulate)
                target += own[here.places[i]];
        }
        Outcome o;
        const ucd_ucx_param_t p = o.param();
        const auto at = static_cast<std::intptr_t>(skipped * sizeof(int));
        RmaSide &a = m.pair.a;
        const ucd_ucx_window_key_t *const key = &m.window.key;
        int rc = UCD_SUCCESS;
        if (what == What::put)
            rc = ucd_ucx_put_nbx(a.rma, a.ep(), own.data(), 1, here.type, key, at, 1, there.type,
                                 &p, &o.request);
        else if (what == What::get)
            rc = ucd_ucx_get_nbx(a.rma, a.ep(), result.data(), 1, here.type, key, at, 1, there.type,
                                 &p, &o.request);
        else if (what == What::accumulate)
            rc = ucd_ucx_accumulate_nbx(a.rma, a.ep(), own.data(), 1, here.type, key, at, 1,
                                        there.type, UCD_OP__SUM, &p, &o.request);
        else
            rc = ucd_ucx_get_accumulate_nbx(a.rma, a.ep(), own.data(), 1, here.type, result.data(),
                                            1, here.type, key, at, 1, there.type, UCD_OP__SUM, &p,
                                            &o.request);
        ok(rc, "operation");
        a.progress();
        REQUIRE(o.done()); // the target has made no progress
        CHECK(o.result.status == UCS_OK);
        CHECK(own == sent);
        CHECK(result == expected);
        REQUIRE(std::equal(window.begin(), window.end(), m.window.memory));
    }
}

DEVICE_TEST("allocated windows: what only fetches, and elements that overlap") {
    Mapped m;
    m.window.memory[3] = 42;
    int fetched = 0;
    Outcome o;
    start_get_accumulate(m.pair.a, {nullptr, 0, UCD_TYPE__INT}, {&fetched, 1, UCD_TYPE__INT},
                         {&m.window.key, 3 * sizeof(int), 1, UCD_TYPE__INT}, UCD_UCX_OP__NO_OP, o);
    m.pair.a.progress();
    REQUIRE(o.done());
    CHECK(fetched == 42);
    CHECK(m.window.memory[3] == 42);
    // The target refuses these, and nothing is written.
    ucd_type_t overlapping;
    ok(ucd_create_hvector(2, 1, 0, UCD_TYPE__INT, UCD_INFO__NULL, &overlapping), "hvector");
    for (const What what : {What::put, What::accumulate}) {
        RmaTestOperation twice(2);
        ok(twice.start(what, m.pair.a, &m.window.key, 12, overlapping, 1), "operation");
        m.pair.until([&] { return twice.done(); });
        CHECK(twice.status() == UCS_ERR_INVALID_PARAM);
    }
    ok(ucd_free(&overlapping), "free");
    CHECK(m.window.memory[3] == 42);
    for (const std::intptr_t at : {std::intptr_t{-4}, std::intptr_t{ints * 4}, INTPTR_MAX - 3}) {
        for (const What what : every) {
            RmaTestOperation beyond(1);
            CHECK_FALSE(is_direct(m.pair, what, beyond, &m.window.key, at));
            CHECK(beyond.status() == UCS_ERR_OUT_OF_RANGE);
        }
    }
}

DEVICE_TEST("allocated windows: accumulates by message and in the mapping lose no update") {
    RmaPair first(trusting, UCS_THREAD_MODE_MULTI);
    RmaSide second(Keys(trusting).get(), UCS_THREAD_MODE_MULTI);
    second.side.connect(first.b.side.address());
    AllocatedWindow window(first.b, 64);
    std::atomic<int> running = 2;
    constexpr int rounds = 4000;
    const auto adds = [&](RmaSide &side, bool fetches) {
        const Keys no({{"ucd.ucx.direct", "no"}});
        std::vector<int> ones(16, 1), old(16);
        for (int i = 0; i < rounds; ++i) {
            // Every third one is a message, so that the target accumulates at the same time.
            const ucd_ucx_param_t p = {sizeof p, i % 3 == 0 ? no.get() : UCD_INFO__NULL, nullptr,
                                       nullptr};
            Request request;
            ok(fetches
                   ? ucd_ucx_get_accumulate_nbx(side.rma, side.ep(), ones.data(), 16, UCD_TYPE__INT,
                                                old.data(), 16, UCD_TYPE__INT, &window.key, 0, 16,
                                                UCD_TYPE__INT, UCD_OP__SUM, &p, &request.handle)
                   : ucd_ucx_accumulate_nbx(side.rma, side.ep(), ones.data(), 16, UCD_TYPE__INT,
                                            &window.key, 0, 16, UCD_TYPE__INT, UCD_OP__SUM, &p,
                                            &request.handle),
               "accumulate");
            while (!request.done()) side.progress();
        }
        --running;
    };
    std::thread one([&] { adds(first.a, true); });
    std::thread other([&] { adds(second, false); });
    while (running > 0) first.b.progress();
    one.join();
    other.join();
    for (int i = 0; i < 16; ++i) CHECK(window.memory[i] == 2 * rounds);
    CHECK(window.memory[16] == 0);
    CHECK(becomes_direct(first, &window.key, 1));
}

DEVICE_TEST("allocated windows: accumulates by message wait for the turn of an origin that lives") {
    RmaPair pair(trusting, UCS_THREAD_MODE_MULTI);
    AllocatedWindow window(pair.b, ints);
    REQUIRE(becomes_direct(pair, &window.key, 1));
    WindowMemory &memory = *window.handle->shared;
    // Which number the origin has is seen while it accumulates.
    std::atomic<bool> seen = false;
    std::thread origin([&] {
        for (int i = 0; i < 200000 && !seen; ++i) {
            RmaTestOperation add(16000);
            ok(add.start(What::accumulate, pair.a, &window.key, 0), "accumulate");
            while (!add.done()) pair.a.progress();
        }
    });
    uint64_t number = 0;
    while (number == 0) {
        number = memory.whose_turn();
        pair.b.progress();
    }
    seen = true;
    origin.join();
    REQUIRE(number > WindowMemory::owner);
    REQUIRE(memory.whose_turn() == 0);
    window.memory[0] = 0;
    REQUIRE(memory.take_turn(number));
    RmaTestOperation add(1), fetching(1);
    ok(add.start(What::accumulate, pair.a, &window.key, 0), "accumulate");
    ok(fetching.start(What::get_accumulate, pair.a, &window.key, 0), "get_accumulate");
    for (int i = 0; i < 200; ++i) pair.progress();
    CHECK_FALSE(add.done());
    CHECK_FALSE(fetching.done());
    CHECK(window.memory[0] == 0);
    CHECK(ucd_ucx_progress(pair.b.rma) != 0); // no event tells of the turn, so it may not sleep
    memory.end_turn();
    pair.until([&] { return add.done() && fetching.done(); });
    CHECK(window.memory[0] == 2);
    CHECK(memory.whose_turn() == 0);
    // One that is not known has ended, and does not keep the turn.
    REQUIRE(memory.take_turn(number ^ 64));
    RmaTestOperation late(1);
    ok(late.start(What::accumulate, pair.a, &window.key, 0), "accumulate");
    pair.until([&] { return late.done(); });
    CHECK(window.memory[0] == 3);
    CHECK(memory.whose_turn() == 0);
}

DEVICE_TEST("allocated windows: what is done at once leaves the turn to an accumulate at work") {
    HandOrigin o;
    const AllocatedWindow window(o.b, 50);
    const WindowMemory &memory = *window.handle->shared;
    o.request.window = wire::window_name(window.key);
    o.request.type = flattened(UCD_TYPE__INT);
    o.request.verb = wire::accumulate;
    o.request.op = UCD_OP__SUM;
    wire::Message m = o.hand.new_message(wire::user_offer, 200);
    m.user_header = o.request.text();
    const std::uint64_t number = o.request.number;
    o.hand.active(m);
    REQUIRE(o.hand.within(5, [&] { return memory.whose_turn() == WindowMemory::owner; }));
    for (const bool puts : {true, false}) {
        o.request.verb = puts ? wire::put : wire::get;
        o.request.op = UCD_OP__REPLACE;
        o.data.assign(puts ? 200 : 0, 1);
        CHECK(o.verdict() == wire::done);
        CHECK(memory.whose_turn() == WindowMemory::owner);
    }
    m.kind = wire::chunk;
    m.user_header.clear();
    o.hand.active(m, std::string(200, 1));
    const wire::Said said = o.hand.next_said();
    CHECK((said.is_answer() && said.first == wire::done && said.number == number));
    CHECK(std::all_of(window.memory, window.memory + 50, [](int i) { return i == 0x02020202; }));
    CHECK(memory.whose_turn() == 0);
}

DEVICE_TEST("allocated windows: their end gives the memory back, also if an origin has it mapped") {
    Mapped m;
    std::fill_n(m.window.memory, ints, 1);
    const FileDescriptor kept(::dup(m.window.handle->shared->descriptor()));
    const int refused = m.window.handle->shared->descriptor();
    CHECK(blocks_of(kept.get()) * 512 >= ints * sizeof(int));
    CHECK(::ftruncate(refused, 0) != 0);
    m.window.end();
    REQUIRE(m.window.handle == nullptr);
    CHECK(blocks_of(kept.get()) == 0);
    for (const What what : every) {
        RmaTestOperation late(1);
        CHECK_FALSE(is_direct(m.pair, what, late, &m.window.key));
        CHECK(late.status() == UCS_ERR_NO_ELEM);
    }
    // Another window has a grant of its own.
    const AllocatedWindow other(m.pair.b, ints);
    CHECK(becomes_direct(m.pair, &other.key, 1));
}

DEVICE_TEST("allocated windows: mappings are charged, and end with the endpoint") {
    RmaPair pair(trusting);
    AllocatedWindow first(pair.b, ints);
    REQUIRE(becomes_direct(pair, &first.key, 1));
    const ucd_ucx::Ledger &ledger = pair.a.rma->engine.ledger;
    const uint64_t with_one = ledger.bytes_of(pair.a.ep());
    constexpr std::size_t more = 1 << 20;
    AllocatedWindow second(pair.b, more);
    REQUIRE(becomes_direct(pair, &second.key, 1));
    CHECK(ledger.bytes_of(pair.a.ep()) >=
          with_one + WindowMemory::cost_of_mapping(more * sizeof(int)));
    pair.a.lose_endpoint();
    pair.a.progress();
    CHECK(ledger.bytes_of(pair.a.ep()) == 0);
}

DEVICE_TEST("allocated windows: those that are gone cost their origin nothing") {
    RmaPair pair(trusting);
    const ucd_ucx::Ledger &ledger = pair.a.rma->engine.ledger;
    uint64_t steady = 0;
    const bool are_mapped = GENERATE(false, true); // else the descriptor of each stays unused
    CAPTURE(are_mapped);
    for (int i = 0; i < 20; ++i) {
        AllocatedWindow window(pair.b, ints);
        RmaTestOperation get(1);
        (void)is_direct(pair, What::get, get, &window.key);
        for (int j = 0; j < 50; ++j) { // the grant comes
            pair.progress();
            ::usleep(50);
        }
        if (are_mapped) REQUIRE(becomes_direct(pair, &window.key, 1));
        if (i == 4) steady = ledger.bytes_of(pair.a.ep());
    }
    CHECK(ledger.bytes_of(pair.a.ep()) == steady);
}

DEVICE_TEST("allocated windows: mappings leave room to operations that wait") {
    RmaPair pair({{"ucd.ucx.direct", "yes"}, {"ucd.ucx.peer_memory", "1048576"}});
    constexpr std::size_t large = 4 << 20; // 32 KiB are charged, of 64 for mappings, and 128 in all
    AllocatedWindow first(pair.b, large), second(pair.b, large);
    REQUIRE(becomes_direct(pair, &first.key, 1));
    CHECK_FALSE(becomes_direct(pair, &second.key, 1));
    for (const What what : every) {
        RmaTestOperation operation(1);
        CHECK_FALSE(is_direct(pair, what, operation, &second.key));
        CHECK(operation.status() == UCS_OK);
    }
    first.end();
    const AllocatedWindow third(pair.b, large);
    CHECK(becomes_direct(pair, &third.key, 1));
}

DEVICE_TEST("allocated windows: of no bytes, and of more than there can be") {
    RmaPair pair(trusting);
    void *base = &pair;
    ucd_ucx_window_t window = UCD_UCX_WINDOW__NULL;
    ok(ucd_ucx_window_allocate(pair.b.rma, 0, UCD_INFO__NULL, &base, &window), "allocate");
    CHECK(base == nullptr);
    ok(ucd_ucx_window_destroy(&window), "destroy");
    for (const uintptr_t bytes : {UINTPTR_MAX, uintptr_t{1} << 62, uintptr_t{INTPTR_MAX}})
        CHECK(ucd_ucx_window_allocate(pair.b.rma, bytes, UCD_INFO__NULL, &base, &window) ==
              UCD_ERR__OUT_OF_MEM);
    CHECK(ucd_ucx_window_allocate(pair.b.rma, 1, UCD_INFO__NULL, nullptr, &window) ==
          UCD_ERR__INVALID_ARG);
    CHECK(ucd_ucx_window_allocate(pair.b.rma, 1, UCD_INFO__NULL, &base, nullptr) ==
          UCD_ERR__INVALID_ARG);
    CHECK(window == nullptr);
}

TEST_CASE("allocated windows: memory of another size, or that could shrink, is not mapped") {
    CHECK(WindowMemory::open(-1, 4096) == nullptr);
    const FileDescriptor loose(::memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(loose.get(), 8192) == 0);
    CHECK(WindowMemory::open(loose.get(), 4096) == nullptr);
    const auto made = WindowMemory::make(4096);
    REQUIRE(made != nullptr);
    CHECK(WindowMemory::open(made->descriptor(), 4096) != nullptr);
    CHECK(WindowMemory::open(made->descriptor(), 4097) == nullptr);
    CHECK(WindowMemory::open(made->descriptor(), UINT64_MAX) == nullptr);
}

} // namespace rma_mapped_test
