// Requests that are sent together, and operations that are like the one before.

#include "api/object.h"
#include "support/device_test.hpp"
#include "support/random/random_cases.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/ucx_sends.hpp"

#include <algorithm>
#include <random>

namespace rma_together_test {

using namespace ucdtest;
using Fate = UcxSends::Fate;

namespace {

// Puts of some ints each, one behind the other; the target knows window and type already.
struct Puts {
    RmaPair pair;
    std::vector<int> memory = std::vector<int>(10000, 7);
    Window window{pair.b, memory.data(), memory.size() * sizeof(int)};
    std::vector<std::unique_ptr<RmaTestOperation>> all;

    Puts() {
        RmaTestOperation first(1);
        ok(first.start(What::get, pair.a, window.key(), 0), "get");
        pair.until([&] { return first.done(); });
        pair.progress();
    }
    void start(std::size_t number, std::size_t ints) {
        for (std::size_t i = 0; i < number; ++i) {
            auto put = std::make_unique<RmaTestOperation>(ints);
            std::fill(put->in.begin(), put->in.end(), static_cast<int>(i));
            ok(put->start(What::put, pair.a, window.key(),
                          static_cast<std::intptr_t>(i * ints * sizeof(int))),
               "put");
            all.push_back(std::move(put));
        }
    }
    std::size_t ended_with(ucs_status_t status) const {
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto &p) {
            return p->done() && p->status() == status;
        }));
    }
    void wait() {
        pair.until([&] {
            return std::all_of(all.begin(), all.end(), [](const auto &p) { return p->done(); });
        });
    }
    bool has(std::size_t number, std::size_t ints) const {
        for (std::size_t i = 0; i < number * ints; ++i)
            if (memory[i] != static_cast<int>(i / ints)) return false;
        return memory[number * ints] == 7;
    }
};

} // namespace

DEVICE_TEST("the first request is sent at once, and those behind it together") {
    Puts puts;
    const UcxSends sends(puts.pair.a.ep());
    puts.start(10, 3);
    CHECK(sends.calls.size() == 1);
    puts.pair.a.progress();
    CHECK(sends.calls.size() == 2);
    puts.wait();
    CHECK(puts.ended_with(UCS_OK) == 10);
    CHECK(puts.has(10, 3));
    CHECK(sends.calls.size() == 2);
}

DEVICE_TEST("as many requests travel together as fit a message") {
    Puts puts;
    const UcxSends sends(puts.pair.a.ep());
    puts.start(20, 150); // 600 bytes each
    CHECK(sends.calls.size() == 1 + 6);
    puts.wait();
    CHECK(puts.has(20, 150));
    for (const UcxSends::Call &call : sends.calls) CHECK(call.count <= 2048);
    puts.all.clear();
    puts.start(3, 3000); // too long for a message with others
    puts.wait();
    CHECK(puts.has(3, 3000));
}

DEVICE_TEST("operations whose requests UCX refuses together end together") {
    for (const bool later : {false, true}) {
        Puts puts;
        UcxSends sends(puts.pair.a.ep());
        sends.status = UCS_ERR_REJECTED;
        sends.next = {Fate::sent, later ? Fate::held : Fate::ended};
        puts.start(5, 3);
        puts.pair.a.progress();
        if (later) sends.end_held(UCS_ERR_REJECTED);
        puts.wait();
        CHECK(puts.ended_with(UCS_OK) == 1);
        CHECK(puts.ended_with(UCS_ERR_REJECTED) == 4);
        CHECK(puts.has(1, 3));
    }
}

DEVICE_TEST("requests for which UCX has no memory are sent later") {
    Puts puts;
    UcxSends sends(puts.pair.a.ep());
    sends.next = {Fate::sent, Fate::ended, Fate::ended};
    puts.start(5, 3);
    for (int i = 0; i < 2; ++i) puts.pair.a.progress();
    CHECK(puts.ended_with(UCS_OK) <= 1);
    puts.wait();
    CHECK(puts.has(5, 3));
}

DEVICE_TEST("requests that were not sent end with their endpoint") {
    Puts puts;
    {
        const UcxSends sends(puts.pair.a.ep());
        puts.start(5, 3);
        ok(ucd_ucx_lose_endpoint(puts.pair.a.rma, puts.pair.a.ep(), UCS_ERR_CANCELED), "lose");
        puts.pair.a.progress();
        CHECK(sends.calls.size() == 1);
    }
    CHECK(puts.ended_with(UCS_ERR_CANCELED) == 5);
    // The next one is for an endpoint at the same address.
    puts.all.clear();
    puts.start(3, 3);
    puts.wait();
    CHECK(puts.ended_with(UCS_OK) == 3);
}

DEVICE_TEST("requests that are newer than the failure of their endpoint are sent") {
    const int number = GENERATE(1, 3);
    Puts puts;
    RmaSide &a = puts.pair.a;
    puts.start(4, 3); // one is sent, and three are not
    ok(ucd_ucx_lose_endpoint(a.rma, a.ep(), UCS_ERR_CANCELED), "lose");
    // What is at the target lies behind the others' bytes.
    std::vector<std::unique_ptr<RmaTestOperation>> newer;
    for (int i = 0; i < number; ++i) {
        newer.push_back(std::make_unique<RmaTestOperation>(3));
        RmaTestOperation &put = *newer.back();
        std::fill(put.in.begin(), put.in.end(), 100 + i);
        ok(put.start(What::put, a, puts.window.key(),
                     static_cast<std::intptr_t>((12 + i * 3) * sizeof(int))),
           "put");
    }
    puts.pair.until([&] {
        return std::all_of(newer.begin(), newer.end(), [](const auto &p) { return p->done(); });
    });
    for (const auto &put : newer) CHECK(put->status() == UCS_OK);
    CHECK(puts.ended_with(UCS_ERR_CANCELED) == 4);
    // The first of the others had been sent.
    std::vector<int> expected(22, 7);
    std::fill(expected.begin(), expected.begin() + 3, 0);
    for (int i = 0; i < 3 * number; ++i) expected[12 + static_cast<std::size_t>(i)] = 100 + i / 3;
    CHECK(std::equal(expected.begin(), expected.end(), puts.memory.begin()));
}

DEVICE_TEST("a request among others is refused alone") {
    Puts puts;
    puts.start(3, 3);
    RmaTestOperation outside(3), last(3);
    ok(outside.start(What::put, puts.pair.a, puts.window.key(), INTPTR_MAX), "put");
    ok(last.start(What::accumulate, puts.pair.a, puts.window.key(), 0), "accumulate");
    puts.wait();
    puts.pair.until([&] { return outside.done() && last.done(); });
    CHECK(outside.status() == UCS_ERR_OUT_OF_RANGE);
    CHECK(last.status() == UCS_OK);
    CHECK(puts.ended_with(UCS_OK) == 3);
}

DEVICE_TEST("a type at the address of an old one is another type") {
    Puts puts;
    const auto seed = static_cast<unsigned>(session_seed());
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 100; ++round) {
        // 8 ints of each, with a stride of its own.
        const std::intptr_t stride = 1 + static_cast<std::intptr_t>(random() % 4);
        const std::intptr_t own_stride = 1 + static_cast<std::intptr_t>(random() % 4);
        const bool gets = random() % 2 == 0;
        ucd_type_t there, here;
        ok(ucd_create_vector(8, 1, stride, UCD_TYPE__INT, UCD_INFO__NULL, &there), "vector");
        ok(ucd_create_vector(8, 1, own_stride, UCD_TYPE__INT, UCD_INFO__NULL, &here), "vector");
        std::generate(puts.memory.begin(), puts.memory.begin() + 40,
                      [&] { return static_cast<int>(random()); });
        std::vector<int> own(40), expected = puts.memory;
        std::generate(own.begin(), own.end(), [&] { return static_cast<int>(random()); });
        std::vector<int> expected_own = own;
        for (std::intptr_t i = 0; i < 8; ++i) {
            int &target = expected[static_cast<std::size_t>(i * stride)];
            int &origin = expected_own[static_cast<std::size_t>(i * own_stride)];
            (gets ? origin : target) = gets ? target : origin;
        }
        for (int again = 0; again < 2; ++again) {
            Outcome o;
            const ucd_ucx_param_t p = o.param();
            ok(gets ? ucd_ucx_get_nbx(puts.pair.a.rma, puts.pair.a.ep(), own.data(), 1, here,
                                      puts.window.key(), 0, 1, there, &p, &o.request)
                    : ucd_ucx_put_nbx(puts.pair.a.rma, puts.pair.a.ep(), own.data(), 1, here,
                                      puts.window.key(), 0, 1, there, &p, &o.request),
               "operation");
            puts.pair.until([&] { return o.done(); });
            REQUIRE(o.result.status == UCS_OK);
        }
        REQUIRE(own == expected_own);
        REQUIRE(puts.memory == expected);
        for (ucd_type_t *type : {&there, &here}) ok(ucd_free(type), "free");
    }
}

} // namespace rma_together_test
