// Direct access to windows: what goes without messages and with which result, when the owner ends
// it, and what does not begin it.

#include "c_api/allocations.hpp"
#include "rma/access_page.h"
#include "rma/one_sided.h"
#include "support/catch.hpp"
#include "support/moves/device_moves.hpp"
#include "support/random/random_cases.hpp"
#include "ucx/child_process.hpp"
#include "ucx/rma_access.hpp"
#include "ucx/rma_by_hand.hpp"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <numeric>
#include <random>
#include <sys/mman.h>
#include <thread>

namespace rma_access_test {

using namespace ucdtest;
using ucd_ucx::Trust;
using ucd_ucx::rma::access_method;
using ucd_ucx::rma::AccessMethod;
using ucd_ucx::rma::AccessPage;
using ucd_ucx::rma::Verb;

namespace {

constexpr std::size_t many = 16384; // ints, for which a message is slower

struct Granted {
    RmaPair pair{trusting};
    std::vector<int> memory = std::vector<int>(8 * many, 7);
    Window window{pair.b, memory.data() + many, 6 * many * sizeof(int)};
    Granted() { REQUIRE(becomes_direct(pair, window.key(), many)); }
    bool has_guards() const {
        const auto are_sevens = [&](std::size_t from) {
            return std::all_of(memory.begin() + static_cast<long>(from),
                               memory.begin() + static_cast<long>(from + many),
                               [](int i) { return i == 7; });
        };
        return are_sevens(0) && are_sevens(7 * many);
    }
};

} // namespace

TEST_CASE("puts and gets go directly once the owner has granted it, accumulates do not") {
    const DeviceSession session;
    Granted g;
    for (const What what : every) {
        RmaTestOperation operation(many);
        std::iota(operation.in.begin(), operation.in.end(), 0);
        const bool direct = what == What::put || what == What::get;
        CHECK(is_direct(g.pair, what, operation, g.window.key(), many * sizeof(int)) == direct);
        CHECK(operation.status() == UCS_OK);
        CHECK(operation.o.result.bytes == many * sizeof(int));
        if (what == What::get) CHECK(operation.out[5] == 5);
        if (what == What::put) CHECK(g.memory[2 * many + 5] == 5);
    }
    CHECK(g.memory[2 * many + 5] == 15);
    CHECK(g.has_guards());
    // Few bytes are faster by message.
    RmaTestOperation few(10);
    CHECK_FALSE(is_direct(g.pair, What::put, few, g.window.key()));
}

TEST_CASE("direct operations move what the layouts say, and nothing else") {
    const DeviceSession session;
    Granted g;
    const auto seed = static_cast<unsigned>(session_seed());
    CAPTURE(seed);
    std::mt19937 random(seed);
    int direct = 0;
    for (int round = 0; round < 60; ++round) {
        const std::size_t ints = many / 4 + random() % (2 * many);
        const bool dense = random() % 2 == 0;
        const Blocks there(random, ints, dense ? 20 : 8000, dense ? 10 : 50);
        const Blocks here(random, ints, 1 + random() % 500, 1 + random() % 3);
        const std::size_t skipped = random() % many;
        REQUIRE(skipped + there.end() <= 6 * many);
        std::generate(g.memory.begin() + many, g.memory.begin() + 7 * many,
                      [&] { return static_cast<int>(random()); });
        std::vector<int> own(here.end() + 10);
        std::generate(own.begin(), own.end(), [&] { return static_cast<int>(random()); });
        std::vector<int> expected_there = g.memory, expected_here = own;
        const bool puts = random() % 2 == 0;
        for (std::size_t i = 0; i < ints; ++i) {
            int &target = expected_there[many + skipped + there.places[i]];
            int &origin = expected_here[here.places[i]];
            (puts ? target : origin) = puts ? origin : target;
        }
        Outcome o;
        const ucd_ucx_param_t p = o.param();
        const auto displacement = static_cast<std::intptr_t>(skipped * sizeof(int));
        ok(puts ? ucd_ucx_put_nbx(g.pair.a.rma, g.pair.a.ep(), own.data(), 1, here.type,
                                  g.window.key(), displacement, 1, there.type, &p, &o.request)
                : ucd_ucx_get_nbx(g.pair.a.rma, g.pair.a.ep(), own.data(), 1, here.type,
                                  g.window.key(), displacement, 1, there.type, &p, &o.request),
           "operation");
        g.pair.a.progress();
        direct += o.done();
        g.pair.until([&] { return o.done(); });
        REQUIRE(o.result.status == UCS_OK);
        REQUIRE(own == expected_here);
        REQUIRE(g.memory == expected_there);
    }
    CHECK(direct > 10);
    CHECK(direct < 60);
}

TEST_CASE("a direct put that finds no memory writes what it should, or ends with a status") {
    const DeviceSession session;
    Granted g;
    for (std::size_t nth = 1, in_a_row = 0; in_a_row < 2; ++nth) {
        std::vector<int> own(2 * many);
        std::iota(own.begin(), own.end(), static_cast<int>(1000 * nth));
        ucd_type_t type; // a new one, whose plan has to be made
        ok(ucd_create_vector(many, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type), "vector");
        Outcome o;
        const ucd_ucx_param_t p = o.param();
        fail_allocation(nth);
        const int rc = ucd_ucx_put_nbx(g.pair.a.rma, g.pair.a.ep(), own.data(), 1, type,
                                       g.window.key(), 0, many, UCD_TYPE__INT, &p, &o.request);
        in_a_row = end_failing() ? in_a_row + 1 : 0;
        ok(ucd_free(&type), "free");
        if (rc != UCD_SUCCESS) continue;
        g.pair.until([&] { return o.done(); });
        if (o.result.status != UCS_OK) continue;
        for (std::size_t i = 0; i < many; ++i) REQUIRE(g.memory[many + i] == own[2 * i]);
    }
    CHECK(g.has_guards());
}

TEST_CASE("which layouts are accessed directly") {
    ucd_layout_t layout = {};
    layout.bytes = 64 << 10;
    layout.high = 64 << 10;
    layout.segments = 1;
    layout.contiguous = 1;
    CHECK(access_method(Verb::put, layout, Trust::full) == AccessMethod::segments);
    CHECK(access_method(Verb::get, layout, Trust::full) == AccessMethod::segments);
    CHECK(access_method(Verb::accumulate, layout, Trust::full) == AccessMethod::none);
    CHECK(access_method(Verb::get_accumulate, layout, Trust::full) == AccessMethod::none);
    layout.segments = 0; // is only known when data moves
    CHECK(access_method(Verb::get, layout, Trust::full) == AccessMethod::none);
    layout.contiguous = 0;
    layout.segments = 8 << 10;
    layout.high = 128 << 10;
    CHECK(access_method(Verb::put, layout, Trust::full) == AccessMethod::none);
    CHECK(access_method(Verb::get, layout, Trust::full) == AccessMethod::span);
    layout.high += 1;
    CHECK(access_method(Verb::get, layout, Trust::full) == AccessMethod::none);
    for (const auto &[verb, least] : {std::pair(Verb::put, 8 << 10), std::pair(Verb::get, 1 << 10)})
        for (const int less : {0, 1}) {
            layout.segments = (64 << 10) / static_cast<uint64_t>(least);
            layout.bytes = static_cast<uint64_t>(64 << 10) - static_cast<uint64_t>(less);
            layout.high = 1 << 20;
            layout.box_dims = 1;
            layout.box_count[0] = layout.segments;
            layout.box_stride[0] = 16 << 10;
            layout.box_block = layout.bytes / layout.segments;
            CHECK(access_method(verb, layout, Trust::full) ==
                  (less == 0 ? AccessMethod::segments : AccessMethod::none));
        }
    // Short rows beside each other: a put cannot write what lies between.
    layout.bytes = 64 << 10;
    layout.segments = layout.box_count[0] = 32;
    layout.box_block = 2 << 10;
    layout.box_stride[0] = 4 << 10;
    layout.high = 126 << 10;
    CHECK(access_method(Verb::put, layout, Trust::full) == AccessMethod::none);
    CHECK(access_method(Verb::put, layout, Trust::always) == AccessMethod::segments);
    CHECK(access_method(Verb::get, layout, Trust::full) == AccessMethod::span);
    layout.box_dims = 0;
    layout.high = 64 << 10;
    layout.bytes = 100;
    layout.segments = 10;
    CHECK(access_method(Verb::get, layout, Trust::full) == AccessMethod::none);
    CHECK(access_method(Verb::put, layout, Trust::always) == AccessMethod::none); // may overlap
    layout.contiguous = 1;
    CHECK(access_method(Verb::put, layout, Trust::always) == AccessMethod::segments);
    layout.bytes = 1 << 30;
    CHECK(access_method(Verb::get, layout, Trust::full) == AccessMethod::none);
}

TEST_CASE("beyond the window's bounds, the target says so, and nothing moves") {
    const DeviceSession session;
    Granted g;
    for (const std::intptr_t displacement :
         {std::intptr_t{-4}, std::intptr_t(5 * many * sizeof(int) + 4), INTPTR_MAX, INTPTR_MIN}) {
        for (const What what : {What::put, What::get}) {
            RmaTestOperation operation(many);
            CHECK_FALSE(is_direct(g.pair, what, operation, g.window.key(), displacement));
            CHECK(operation.status() == UCS_ERR_OUT_OF_RANGE);
        }
    }
    CHECK(std::all_of(g.memory.begin(), g.memory.end(), [](int i) { return i == 7; }));
}

TEST_CASE("a window that is gone is not accessed, though its memory still is there") {
    const DeviceSession session;
    RmaPair pair(trusting);
    std::vector<int> memory(many, 7);
    ucd_ucx_window_key_t key;
    {
        const Window window(pair.b, memory.data(), many * sizeof(int));
        key = *window.key();
        REQUIRE(becomes_direct(pair, &key, many));
    }
    for (const What what : {What::put, What::get}) {
        RmaTestOperation operation(many);
        CHECK_FALSE(is_direct(pair, what, operation, &key));
        CHECK(operation.status() == UCS_ERR_NO_ELEM);
        CHECK(operation.out[0] == -1);
    }
    CHECK(memory[0] == 7);
    // Another window has a grant of its own.
    const Window window(pair.b, memory.data(), many * sizeof(int));
    CHECK(becomes_direct(pair, window.key(), many));
}

TEST_CASE("a window stays while an origin accesses it") {
    const DeviceSession session;
    ucd_ucx::Descriptor descriptor;
    const auto owner = AccessPage::make(descriptor);
    REQUIRE(owner != nullptr);
    const auto origin = AccessPage::open(descriptor.get());
    REQUIRE(origin != nullptr);
    CHECK_FALSE(origin->begin(3, 1));
    owner->grant(3, 1);
    CHECK_FALSE(origin->begin(3, 2));
    CHECK_FALSE(owner->is_in_use());
    REQUIRE(origin->begin(3, 1));
    owner->withdraw(3);
    CHECK(owner->is_in_use());
    origin->end();
    CHECK_FALSE(owner->is_in_use());
    CHECK_FALSE(origin->begin(3, 1));
    CHECK_FALSE(origin->begin(AccessPage::max_windows, 0));
    CHECK_FALSE(origin->begin(SIZE_MAX, 0));
}

TEST_CASE("a descriptor whose memory may be taken away is no page") {
    CHECK(AccessPage::open(-1) == nullptr);
    for (const bool sealed : {false, true}) {
        const ucd_ucx::Descriptor file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        REQUIRE(::ftruncate(file.get(), sealed ? 100 : AccessPage::bytes) == 0);
        const int seals = F_SEAL_GROW | F_SEAL_SEAL | (sealed ? F_SEAL_SHRINK : 0);
        REQUIRE(::fcntl(file.get(), F_ADD_SEALS, seals) == 0);
        CHECK(AccessPage::open(file.get()) == nullptr);
    }
    ucd_ucx::Descriptor descriptor;
    REQUIRE(AccessPage::make(descriptor) != nullptr);
    CHECK(::ftruncate(descriptor.get(), 0) != 0);
}

// Without huge pages on the machine, the system refuses to map it.
TEST_CASE("memory of huge pages is not mapped") {
    constexpr uint64_t bytes = 2 << 20;
    const ucd_ucx::Descriptor huge(
        ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
    if (!huge || ::ftruncate(huge.get(), bytes) != 0) return;
    REQUIRE(::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
    CHECK(ucd_ucx::SharedMemory::open(huge.get(), bytes) == nullptr);
    CHECK(ucd_ucx::SharedMemory::open_to_read(huge.get(), bytes) == nullptr);
}

TEST_CASE("both sides have to trust, and an operation may refuse") {
    const DeviceSession session;
    std::vector<int> memory(many, 7);
    for (const bool owner_trusts : {false, true}) {
        const Keys keys(trusting);
        RmaSide one(owner_trusts ? UCD_INFO__NULL : keys.get(), UCS_THREAD_MODE_SINGLE);
        RmaSide other(owner_trusts ? keys.get() : UCD_INFO__NULL, UCS_THREAD_MODE_SINGLE);
        one.side.connect(other.side.address());
        other.side.connect(one.side.address());
        const Window window(other, memory.data(), many * sizeof(int));
        for (int i = 0; i < 20; ++i) {
            RmaTestOperation get(many);
            ok(get.start(What::get, one, window.key(), 0), "get");
            one.progress();
            CHECK_FALSE(get.done());
            while (!get.done()) {
                one.progress();
                other.progress();
            }
        }
    }
    Granted g;
    const Keys no({{"ucd.ucx.direct", "no"}});
    RmaTestOperation get(many);
    const ucd_ucx_param_t p = get.o.param(no.get());
    ok(ucd_ucx_get_nbx(g.pair.a.rma, g.pair.a.ep(), get.out.data(), many, UCD_TYPE__INT,
                       g.window.key(), 0, many, UCD_TYPE__INT, &p, &get.o.request),
       "get");
    g.pair.a.progress();
    CHECK_FALSE(get.done());
    g.pair.until([&] { return get.done(); });
}

TEST_CASE("direct operations stay behind a fence, and a flush does not wait for them") {
    const DeviceSession session;
    Granted g;
    RmaTestOperation first(100), second(many);
    std::fill(second.in.begin(), second.in.end(), 2);
    ok(first.start(What::put, g.pair.a, g.window.key(), 0), "put");
    ok(ucd_ucx_rma_fence(g.pair.a.rma, g.pair.a.ep()), "fence");
    ok(second.start(What::put, g.pair.a, g.window.key(), 0), "put");
    g.pair.a.progress();
    CHECK_FALSE(second.done());
    CHECK(g.memory[many] == 7);
    g.pair.until([&] { return second.done(); });
    CHECK(first.done());
    CHECK(g.memory[many] == 2);
    RmaTestOperation third(many);
    ok(third.start(What::put, g.pair.a, g.window.key(), 0), "put");
    ucd_ucx_request_t flush;
    ok(ucd_ucx_rma_flush_nbx(g.pair.a.rma, g.pair.a.ep(), nullptr, &flush), "flush");
    CHECK(flush == UCD_UCX_REQUEST__NULL);
    g.pair.until([&] { return third.done(); });
}

TEST_CASE("with a lost endpoint, direct access ends at both sides") {
    const DeviceSession session;
    Granted g;
    ok(ucd_ucx_rma_lose_endpoint(g.pair.b.rma, g.pair.b.ep(), UCS_ERR_CANCELED), "lose");
    g.pair.b.progress();
    RmaTestOperation put(many);
    ok(put.start(What::put, g.pair.a, g.window.key(), 0), "put");
    g.pair.a.progress();
    CHECK_FALSE(put.done());
    CHECK(g.memory[many] == 7);
    ok(ucd_ucx_rma_lose_endpoint(g.pair.a.rma, g.pair.a.ep(), UCS_ERR_CANCELED), "lose");
    g.pair.until([&] { return put.done(); });
}

// It looks as if the origin were at work on the page of each endpoint that it has lost.
TEST_CASE("an owner keeps the pages of few lost endpoints, and grants nothing beyond these") {
    const DeviceSession session;
    using ucd_ucx::rma::WindowAccess;
    std::vector<std::unique_ptr<ucd_ucx::SharedMemory>> pages;
    Granted g;
    RmaPair &pair = g.pair;
    for (std::size_t i = 0; i < WindowAccess::max_retired; ++i) {
        REQUIRE((i == 0 || becomes_direct(pair, g.window.key(), many)));
        const int page = pair.a.rma->engine.links.to_owner(pair.a.ep())->passed(0);
        pages.push_back(ucd_ucx::SharedMemory::open(page, AccessPage::bytes));
        REQUIRE(pages.back() != nullptr);
        *reinterpret_cast<std::atomic<uint64_t> *>(pages.back()->address()) = 1;
        for (RmaSide *side : {&pair.a, &pair.b}) {
            ok(ucd_ucx_rma_lose_endpoint(side->rma, side->ep(), UCS_ERR_CANCELED), "lose");
            side->progress();
        }
    }
    CHECK_FALSE(becomes_direct(pair, g.window.key(), many));
    for (RmaSide *side : {&pair.a, &pair.b}) {
        ok(ucd_ucx_rma_lose_endpoint(side->rma, side->ep(), UCS_ERR_CANCELED), "lose");
        side->progress();
    }
    pages[7]->address()[0] = 0;
    CHECK(becomes_direct(pair, g.window.key(), many));
    for (const auto &page : pages) page->address()[0] = 0;
}

TEST_CASE("introductions and grants by hand begin nothing") {
    const DeviceSession session;
    HandTarget target(trusting);
    const ucd_ucx_window_key_t key = made_up_key();
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{31}, std::size_t{32}, std::size_t{80}, std::size_t{100}}) {
        for (const unsigned kind : {10u, 11u})
            target.hand.say(wire::preamble(kind, 0, 0, 0), std::string(bytes, 'x'));
        target.hand.progress(20);
    }
    RmaTestOperation get(many);
    ok(get.start(What::get, target.a, &key, 0), "get");
    target.hand.progress(20);
    CHECK_FALSE(get.done());
    ok(ucd_ucx_rma_lose_endpoint(target.a.rma, target.a.ep(), UCS_ERR_CANCELED), "lose");
    REQUIRE(target.hand.within(5, [&] { return get.done(); }));
}

TEST_CASE("a grant that is not authentic opens nothing") {
    const DeviceSession session;
    Granted g;
    ucd_ucx::rma::WindowAccess &access = g.pair.a.rma->one_sided.access;
    ucd_ucx::rma::WindowGrant grant;
    std::copy_n(g.window.key()->bytes + 8, grant.window.size(), grant.window.begin());
    grant.base = reinterpret_cast<uintptr_t>(g.memory.data());
    grant.bytes = g.memory.size() * sizeof(int);
    std::string message(8, '\0');
    message.append(reinterpret_cast<const char *>(&grant), sizeof grant).append(16, 'm');
    access.take_grant(g.pair.a.ep(), message);
    RmaTestOperation put(many);
    CHECK_FALSE(is_direct(g.pair, What::put, put, g.window.key()));
    CHECK(put.status() == UCS_OK);
    RmaTestOperation outside(many);
    CHECK_FALSE(is_direct(g.pair, What::put, outside, g.window.key(), 6 * many * sizeof(int)));
    CHECK(outside.status() == UCS_ERR_OUT_OF_RANGE);
    CHECK(g.has_guards());
}

TEST_CASE("several threads access a window directly") {
    const DeviceSession session;
    RmaPair pair(trusting, UCS_THREAD_MODE_MULTI);
    constexpr std::size_t threads = 3;
    std::vector<int> memory(threads * many, 7);
    const Window window(pair.b, memory.data(), memory.size() * sizeof(int));
    std::atomic<bool> over = false;
    std::thread target([&] {
        while (!over) pair.b.progress();
    });
    std::vector<std::thread> origins;
    std::atomic<int> wrong = 0;
    for (std::size_t t = 0; t < threads; ++t)
        origins.emplace_back([&, t] {
            const auto displacement = static_cast<std::intptr_t>(t * many * sizeof(int));
            const auto wait = [&](const Request &request) {
                while (!request.done()) pair.a.progress();
            };
            for (int round = 0; round < 200; ++round) {
                std::vector<int> in(many, round), out(many, -1);
                Request put, get;
                ok(ucd_ucx_put_nbx(pair.a.rma, pair.a.ep(), in.data(), many, UCD_TYPE__INT,
                                   window.key(), displacement, many, UCD_TYPE__INT, nullptr,
                                   &put.handle),
                   "put");
                wait(put);
                ok(ucd_ucx_get_nbx(pair.a.rma, pair.a.ep(), out.data(), many, UCD_TYPE__INT,
                                   window.key(), displacement, many, UCD_TYPE__INT, nullptr,
                                   &get.handle),
                   "get");
                wait(get);
                wrong += out != in;
            }
        });
    for (std::thread &origin : origins) origin.join();
    over = true;
    target.join();
    CHECK(wrong == 0);
    CHECK(std::all_of(memory.begin(), memory.end(), [](int i) { return i == 199; }));
    CHECK(becomes_direct(pair, window.key(), many));
}

TEST_CASE("the memory of a process that has ended is not accessed") {
    const DeviceSession session;
    const Pipe from_owner, to_owner;
    Child owner([&] {
        RmaSide side(Keys(trusting).get(), UCS_THREAD_MODE_SINGLE);
        std::vector<int> memory(many, 7);
        const Window window(side, memory.data(), many * sizeof(int));
        from_owner.put_text(side.side.address());
        from_owner.put(*window.key());
        side.side.connect(to_owner.get_text());
        for (;;) side.progress();
    });
    RmaSide origin(Keys(trusting).get(), UCS_THREAD_MODE_SINGLE);
    origin.side.connect(from_owner.get_text());
    const auto key = from_owner.get<ucd_ucx_window_key_t>();
    to_owner.put_text(origin.side.address());
    const auto get_all = [&](RmaTestOperation &get) {
        ok(get.start(What::get, origin, &key, 0), "get");
        origin.progress();
        return get.done();
    };
    bool direct = false;
    REQUIRE(within(
        20, [&] { ::usleep(100); },
        [&] {
            RmaTestOperation get(many);
            direct = get_all(get);
            while (!get.done()) origin.progress();
            return direct && get.out[many - 1] == 7;
        }));
    RmaTestOperation put(many);
    std::fill(put.in.begin(), put.in.end(), 3);
    ok(put.start(What::put, origin, &key, 0), "put");
    RmaTestOperation back(many);
    REQUIRE(get_all(back));
    CHECK(back.out[many - 1] == 3);
    owner.kill();
    RmaTestOperation late(many);
    CHECK_FALSE(get_all(late));
    CHECK(late.out[0] == -1);
    ok(ucd_ucx_rma_lose_endpoint(origin.rma, origin.ep(), UCS_ERR_CONNECTION_RESET), "lose");
    origin.progress();
    CHECK(late.status() == UCS_ERR_CONNECTION_RESET);
}

} // namespace rma_access_test
