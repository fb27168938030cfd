// Direct access to windows: what begins it, and what does not; and what ends it.

#include "api/object.h"
#include "c_api/allocations.hpp"
#include "rma/access_page.h"
#include "support/device_test.hpp"
#include "support/random/random_cases.hpp"
#include "ucx/links_pair.hpp"
#include "ucx/rma_access.hpp"
#include "ucx/rma_by_hand.hpp"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <numeric>
#include <optional>
#include <sys/mman.h>
#include <sys/uio.h>
#include <thread>

namespace rma_access_test {

using namespace ucdtest;
using ucd_ucx::rma::AccessPage;
using ucd_ucx::rma::WindowAccess;
using ucd_ucx::rma::WindowGrant;

namespace {

constexpr std::size_t many = 16384; // ints

struct Granted {
    RmaPair pair{trusting};
    AllocatedWindow window{pair.b, 2 * many};
    const ucd_ucx_window_key_t *key() const { return &window.key; }
    Granted() {
        std::fill_n(window.memory, 2 * many, 7);
        REQUIRE(becomes_direct(pair, key(), many));
    }
    bool has_guard() const {
        return std::all_of(window.memory + many, window.memory + 2 * many,
                           [](int i) { return i == 7; });
    }
};

} // namespace

// The program of the process may be replaced (execve), and then the memory at these addresses is
// another program's.
DEVICE_TEST("windows in users' memory are accessed by messages only") {
    RmaPair pair({{"ucd.ucx.direct", "always"}});
    std::vector<int> memory(many, 7);
    const Window window(pair.b, memory.data(), many * sizeof(int));
    CHECK_FALSE(becomes_direct(pair, window.key(), many));
    const AllocatedWindow allocated(pair.b, 1);
    REQUIRE(becomes_direct(pair, &allocated.key, 1)); // there is a link now
    for (const What what : every) {
        RmaTestOperation operation(many);
        CHECK_FALSE(is_direct(pair, what, operation, window.key()));
        CHECK(operation.status() == UCS_OK);
    }
    CHECK(memory == std::vector<int>(many, 3));
}

// Version 0.3.0 granted such windows, too, and accessed them by system calls.
DEVICE_TEST("a grant of a window that cannot be mapped is not used") {
    Granted g;
    std::vector<int> memory(many, 7);
    const Window window(g.pair.b, memory.data(), many * sizeof(int));
    RmaTestOperation first(1);
    CHECK_FALSE(is_direct(g.pair, What::get, first, window.key()));
    ucd_ucx::Link *const link = g.pair.b.rma->engine.links.to_reader(g.pair.b.ep());
    ucd_ucx::FileDescriptor descriptor;
    const auto page = AccessPage::make(descriptor);
    page->grant(0, 5);
    WindowGrant grant;
    std::copy_n(window.key()->bytes + 8, grant.window.size(), grant.window.begin());
    grant.generation = 5;
    grant.base = reinterpret_cast<uintptr_t>(memory.data());
    grant.bytes = memory.size() * sizeof(int);
    const int passed = descriptor.get();
    REQUIRE(link->pass({&passed, 1}, &grant.descriptor));
    const ucd_ucx::Mac mac = link->authenticate(&grant, sizeof grant);
    std::string message(8, '\0');
    message.append(reinterpret_cast<const char *>(&grant), sizeof grant);
    message.append(mac.begin(), mac.end());
    for (int i = 0; i < 100; ++i) { // the descriptor comes
        g.pair.progress();
        ::usleep(20);
    }
    g.pair.a.rma->one_sided->access.take_grant(g.pair.a.ep(), message);
    RmaTestOperation put(many);
    CHECK_FALSE(is_direct(g.pair, What::put, put, window.key()));
    CHECK(put.status() == UCS_OK);
    CHECK(memory == std::vector<int>(many, 1));
}

// An origin of version 0.3.0 would access it by system calls, until it has mapped the window.
DEVICE_TEST("a grant names no memory of its owner") {
    RmaSide owner(Keys(trusting).get(), UCS_THREAD_MODE_SINGLE);
    const AllocatedWindow window(owner, many);
    LinksWithLedger own;
    Attacker hand(owner.side.address(), [&] {
        owner.progress();
        own.links.progress();
    });
    owner.side.connect(hand.side.address());
    wire::Request request;
    request.window = wire::window_name(window.key);
    request.type = flattened(UCD_TYPE__CHAR);
    request.count = 4;
    std::optional<WindowGrant> grant;
    const auto take = [&](const wire::Said &said) {
        ucd_ucx::Introduction introduction;
        if (said.verb == 10 && said.rest.size() == sizeof introduction) {
            std::memcpy(static_cast<void *>(&introduction), said.rest.data(), sizeof introduction);
            own.links.connect(hand.side.ep, introduction);
        }
        if (said.verb == 11 && said.rest.size() > sizeof *grant)
            std::memcpy(static_cast<void *>(&grant.emplace()), said.rest.data(), sizeof *grant);
    };
    REQUIRE(hand.within(10, [&] {
        ++request.number;
        hand.request(request, "data");
        ::usleep(100);
        while (hand.has_said()) take(hand.next_said());
        return grant.has_value();
    }));
    CHECK(grant->bytes == many * sizeof(int));
    for (const std::size_t at : {std::size_t{0}, many, many * sizeof(int) - 1}) {
        char read = 0;
        const iovec to = {&read, 1};
        const iovec from = {reinterpret_cast<void *>(static_cast<uintptr_t>(grant->base) + at), 1};
        CHECK(::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == -1);
    }
    owner.close_endpoint();
}

DEVICE_TEST("a direct put that finds no memory writes what it should, or ends with a status") {
    Granted g;
    for (std::size_t nth = 1, in_a_row = 0; in_a_row < 2; ++nth) {
        std::vector<int> own(2 * many);
        std::iota(own.begin(), own.end(), static_cast<int>(1000 * nth));
        ucd_type_t type; // a new one, whose plan has to be made
        ok(ucd_create_vector(many, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type), "vector");
        Outcome o;
        const ucd_ucx_param_t p = o.param();
        fail_allocation(nth);
        const int rc = ucd_ucx_put_nbx(g.pair.a.rma, g.pair.a.ep(), own.data(), 1, type, g.key(), 0,
                                       many, UCD_TYPE__INT, &p, &o.request);
        in_a_row = end_failing() ? in_a_row + 1 : 0;
        ok(ucd_free(&type), "free");
        if (rc != UCD_SUCCESS) continue;
        g.pair.until([&] { return o.done(); });
        if (o.result.status != UCS_OK) continue;
        for (std::size_t i = 0; i < many; ++i) REQUIRE(g.window.memory[i] == own[2 * i]);
    }
    CHECK(g.has_guard());
}

DEVICE_TEST("a window stays while an origin accesses it") {
    ucd_ucx::FileDescriptor descriptor;
    const auto owner = AccessPage::make(descriptor);
    REQUIRE(owner != nullptr);
    const auto origin = AccessPage::open(descriptor.get());
    REQUIRE(origin != nullptr);
    CHECK_FALSE(origin->begin(3, 1));
    owner->grant(3, 1);
    CHECK_FALSE(origin->begin(3, 2));
    CHECK_FALSE(owner->is_in_use());
    CHECK(origin->grants(3, 1));
    CHECK_FALSE(origin->grants(3, 2));
    CHECK_FALSE(origin->grants(UINT64_MAX, 0));
    REQUIRE(origin->begin(3, 1));
    owner->withdraw(3);
    CHECK_FALSE(origin->grants(3, 1));
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
        const ucd_ucx::FileDescriptor file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        REQUIRE(::ftruncate(file.get(), sealed ? 100 : AccessPage::bytes) == 0);
        const int seals = F_SEAL_GROW | F_SEAL_SEAL | (sealed ? F_SEAL_SHRINK : 0);
        REQUIRE(::fcntl(file.get(), F_ADD_SEALS, seals) == 0);
        CHECK(AccessPage::open(file.get()) == nullptr);
    }
    ucd_ucx::FileDescriptor descriptor;
    REQUIRE(AccessPage::make(descriptor) != nullptr);
    CHECK(::ftruncate(descriptor.get(), 0) != 0);
}

// Without huge pages on the machine, the system refuses to map it.
TEST_CASE("memory of huge pages is not mapped") {
    constexpr uint64_t bytes = 2 << 20;
    const ucd_ucx::FileDescriptor huge(
        ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
    if (!huge || ::ftruncate(huge.get(), bytes) != 0) return;
    REQUIRE(::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
    CHECK(ucd_ucx::SharedMemory::open(huge.get(), bytes) == nullptr);
    CHECK(ucd_ucx::SharedMemory::open(huge.get(), bytes, false) == nullptr);
}

DEVICE_TEST("both sides have to trust, and an operation may refuse") {
    for (const bool owner_trusts : {false, true}) {
        const Keys keys(trusting);
        RmaSide one(owner_trusts ? UCD_INFO__NULL : keys.get(), UCS_THREAD_MODE_SINGLE);
        RmaSide other(owner_trusts ? keys.get() : UCD_INFO__NULL, UCS_THREAD_MODE_SINGLE);
        one.side.connect(other.side.address());
        other.side.connect(one.side.address());
        const AllocatedWindow window(other, many);
        for (int i = 0; i < 20; ++i) {
            RmaTestOperation get(many);
            ok(get.start(What::get, one, &window.key, 0), "get");
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
    start_get(g.pair.a, {get.out.data(), many, UCD_TYPE__INT}, {g.key(), 0, many, UCD_TYPE__INT},
              get.o, no.get());
    g.pair.a.progress();
    CHECK_FALSE(get.done());
    g.pair.until([&] { return get.done(); });
}

DEVICE_TEST("direct operations stay behind a fence, and a flush does not wait for them") {
    Granted g;
    RmaTestOperation first(many + 1), second(many); // the first one is a message
    std::fill(second.in.begin(), second.in.end(), 2);
    ok(first.start(What::accumulate, g.pair.a, g.key(), 0), "accumulate");
    ok(ucd_ucx_fence(g.pair.a.rma, g.pair.a.ep()), "fence");
    ok(second.start(What::put, g.pair.a, g.key(), 0), "put");
    g.pair.a.progress();
    CHECK_FALSE(second.done());
    CHECK(g.window.memory[0] == 7);
    g.pair.until([&] { return second.done(); });
    CHECK(first.done());
    CHECK(g.window.memory[0] == 2);
    RmaTestOperation third(many);
    ok(third.start(What::put, g.pair.a, g.key(), 0), "put");
    ucd_ucx_request_t flush;
    ok(ucd_ucx_flush_nbx(g.pair.a.rma, g.pair.a.ep(), nullptr, &flush), "flush");
    CHECK(flush == UCD_UCX_REQUEST__NULL);
    g.pair.until([&] { return third.done(); });
}

DEVICE_TEST("with a lost endpoint, direct access ends at both sides") {
    Granted g;
    ok(ucd_ucx_lose_endpoint(g.pair.b.rma, g.pair.b.ep(), UCS_ERR_CANCELED), "lose");
    g.pair.b.progress();
    RmaTestOperation put(many);
    ok(put.start(What::put, g.pair.a, g.key(), 0), "put");
    g.pair.a.progress();
    CHECK_FALSE(put.done());
    CHECK(g.window.memory[0] == 7);
    ok(ucd_ucx_lose_endpoint(g.pair.a.rma, g.pair.a.ep(), UCS_ERR_CANCELED), "lose");
    g.pair.until([&] { return put.done(); });
}

// It looks as if the origin were at work on the page of each endpoint that it has lost, of which it
// keeps the lifeline.
DEVICE_TEST("an owner keeps the pages of few lost endpoints, and grants nothing beyond these") {
    std::vector<std::unique_ptr<ucd_ucx::SharedMemory>> pages;
    std::vector<ucd_ucx::FileDescriptor> lifelines;
    Granted g;
    RmaPair &pair = g.pair;
    for (std::size_t i = 0; i < WindowAccess::max_retired; ++i) {
        REQUIRE((i == 0 || becomes_direct(pair, g.key(), many)));
        pages.push_back(access_page(pair.a));
        lifelines.emplace_back(::dup(pair.a.rma->engine.links.to_owner(pair.a.ep())->passed(0)));
        REQUIRE(pages.back() != nullptr);
        *reinterpret_cast<std::atomic<uint64_t> *>(pages.back()->address()) = 1;
        for (RmaSide *side : {&pair.a, &pair.b}) {
            ok(ucd_ucx_lose_endpoint(side->rma, side->ep(), UCS_ERR_CANCELED), "lose");
            side->progress();
        }
    }
    CHECK_FALSE(becomes_direct(pair, g.key(), many));
    for (RmaSide *side : {&pair.a, &pair.b}) {
        ok(ucd_ucx_lose_endpoint(side->rma, side->ep(), UCS_ERR_CANCELED), "lose");
        side->progress();
    }
    SECTION("one is not at work any more") {
        pages[7]->address()[0] = 0;
    }
    SECTION("one has given up its lifeline") {
        lifelines[7] = ucd_ucx::FileDescriptor();
    }
    CHECK(becomes_direct(pair, g.key(), many));
    for (const auto &page : pages) page->address()[0] = 0;
}

DEVICE_TEST("introductions and grants by hand begin nothing") {
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
    ok(ucd_ucx_lose_endpoint(target.a.rma, target.a.ep(), UCS_ERR_CANCELED), "lose");
    REQUIRE(target.hand.within(5, [&] { return get.done(); }));
}

DEVICE_TEST("a grant that is not authentic opens nothing") {
    Granted g;
    WindowAccess &access = g.pair.a.rma->one_sided->access;
    WindowGrant grant;
    std::copy_n(g.key()->bytes + 8, grant.window.size(), grant.window.begin());
    grant.bytes = 2 * many * sizeof(int);
    grant.memory = 2; // which is the window's
    std::string message(8, '\0');
    message.append(reinterpret_cast<const char *>(&grant), sizeof grant).append(16, 'm');
    access.take_grant(g.pair.a.ep(), message);
    RmaTestOperation put(many);
    CHECK_FALSE(is_direct(g.pair, What::put, put, g.key()));
    CHECK(put.status() == UCS_OK);
    RmaTestOperation outside(many);
    CHECK_FALSE(is_direct(g.pair, What::put, outside, g.key(), 2 * many * sizeof(int)));
    CHECK(outside.status() == UCS_ERR_OUT_OF_RANGE);
    CHECK(g.has_guard());
}

DEVICE_TEST("several threads access a window directly") {
    RmaPair pair(trusting, UCS_THREAD_MODE_MULTI);
    constexpr std::size_t threads = 3;
    const AllocatedWindow window(pair.b, threads * many);
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
                                   &window.key, displacement, many, UCD_TYPE__INT, nullptr,
                                   &put.handle),
                   "put");
                wait(put);
                ok(ucd_ucx_get_nbx(pair.a.rma, pair.a.ep(), out.data(), many, UCD_TYPE__INT,
                                   &window.key, displacement, many, UCD_TYPE__INT, nullptr,
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
    CHECK(
        std::all_of(window.memory, window.memory + threads * many, [](int i) { return i == 199; }));
    CHECK(becomes_direct(pair, &window.key, many));
}

} // namespace rma_access_test
