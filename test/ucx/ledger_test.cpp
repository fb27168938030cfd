// The ledger of what peers make this process keep and do, by itself.

#include "common/ledger.h"
#include "support/catch.hpp"

#include <thread>
#include <utility>
#include <vector>

namespace ledger_test {

using namespace ucd_ucx;

namespace {

// Addresses that stand for peers.
char places[4];
ucp_ep_h peer(std::size_t i) {
    return reinterpret_cast<ucp_ep_h>(&places[i]);
}

} // namespace

TEST_CASE("a charge is given back when it ends, and not before") {
    Ledger ledger({.peer = 1000, .peers = 1500});
    CHECK(ledger.bytes() == 0);
    {
        const Charge charge = ledger.take(peer(0), 100, LedgerUse::request);
        CHECK(charge);
        CHECK((charge.bytes() == 100 && ledger.bytes() == 100));
        CHECK((ledger.bytes_of(peer(0)) == 100 && ledger.bytes_of(peer(1)) == 0));
    }
    CHECK((ledger.bytes() == 0 && ledger.bytes_of(peer(0)) == 0));
    Charge one = ledger.take(peer(0), 100, LedgerUse::chunk), other = std::move(one);
    CHECK((!one && other && ledger.bytes() == 100));
    one = ledger.take(peer(1), 30, LedgerUse::chunk);
    CHECK(ledger.bytes() == 130);
    other = std::move(one); // what it was is given back
    CHECK((ledger.bytes() == 30 && ledger.bytes_of(peer(0)) == 0));
    other.shrink_to(50); // is less already
    CHECK(other.bytes() == 30);
    other.shrink_to(20);
    CHECK((other.bytes() == 20 && ledger.bytes_of(peer(1)) == 20));
    other.give_back();
    other.give_back();
    CHECK((!other && other.bytes() == 0 && ledger.bytes() == 0));
    const Charge nothing = ledger.take(peer(0), 0, LedgerUse::message);
    CHECK(nothing);
}

TEST_CASE("a part of a charge goes to another one of the same account and use") {
    Ledger ledger({.peer = 1000, .peers = 1500});
    Charge one = ledger.take(peer(0), 100, LedgerUse::message),
           other = ledger.take(peer(0), 10, LedgerUse::message),
           for_other_use = ledger.take(peer(0), 10, LedgerUse::request),
           of_other = ledger.take(peer(1), 10, LedgerUse::message), none;
    other.take_from(one, 30);
    CHECK((one.bytes() == 70 && other.bytes() == 40 && ledger.bytes_of(peer(0)) == 120));
    other.take_from(one, 1000);
    CHECK((one.bytes() == 0 && other.bytes() == 110));
    other.take_from(for_other_use, 10);
    other.take_from(of_other, 10);
    other.take_from(none, 10);
    none.take_from(other, 10);
    CHECK((other.bytes() == 110 && for_other_use.bytes() == 10 && of_other.bytes() == 10));
    CHECK_FALSE(none);
    one.give_back();
    other.give_back();
    CHECK((ledger.bytes_of(peer(0)) == 10 && ledger.bytes() == 20));
}

TEST_CASE("limits may be reached, and not exceeded") {
    for (const auto &[use, limit] : {std::pair(LedgerUse::message, std::uint64_t{1600}),
                                     {LedgerUse::request, 200},
                                     {LedgerUse::type, 200},
                                     {LedgerUse::move, 300},
                                     {LedgerUse::chunk, 800}}) {
        INFO("use " << static_cast<int>(use));
        Ledger ledger({.peer = 1600, .peers = 1 << 20});
        CHECK((ledger.is_possible(limit, use) && !ledger.is_possible(limit + 1, use)));
        CHECK_FALSE(ledger.take(peer(0), limit + 1, use));
        const Charge most = ledger.take(peer(0), limit - 1, use),
                     last = ledger.take(peer(0), 1, use);
        CHECK((most && last));
        CHECK_FALSE(ledger.take(peer(0), 1, use));
        CHECK(ledger.take(peer(1), limit, use)); // of another
        CHECK_FALSE(ledger.take(peer(0), UINT64_MAX, use));
    }
    Ledger ledger({.peer = 1000, .peers = 1200});
    CHECK_FALSE(ledger.take(nullptr, 1, LedgerUse::message));
    // What is used for one thing leaves what the others have, as far as there is any.
    const Charge progress = ledger.take(peer(0), 500, LedgerUse::chunk),
                 request = ledger.take(peer(0), 125, LedgerUse::request),
                 message = ledger.take(peer(0), 325, LedgerUse::message);
    CHECK((progress && request && message));
    CHECK_FALSE(ledger.take(peer(0), 51, LedgerUse::message));
    // Of all.
    CHECK_FALSE(ledger.take(peer(1), 251, LedgerUse::chunk));
    CHECK(ledger.take(peer(1), 250, LedgerUse::chunk));
}

TEST_CASE("the uses of a budget leave something for messages, and a chunk of the usual size") {
    for (std::uint64_t peer = 1 << 20; peer <= std::uint64_t{1} << 40; peer *= 2) {
        INFO("a budget of " << peer);
        std::uint64_t all = 0;
        for (const LedgerUse use :
             {LedgerUse::request, LedgerUse::type, LedgerUse::move, LedgerUse::chunk})
            all += Ledger::limit_of(use, peer);
        CHECK(all <= peer - peer / 16);
        CHECK(Ledger::limit_of(LedgerUse::message, peer) == peer);
        CHECK(Ledger::limit_of(LedgerUse::chunk, peer) >= 512 << 10);
    }
    CHECK(Ledger::limit_of(LedgerUse::chunk, 16 << 20) == 8 << 20);
    CHECK(Ledger::limit_of(LedgerUse::chunk, 64 << 20) == 8 << 20);
    CHECK(Ledger::limit_of(LedgerUse::chunk, 256 << 20) == 32 << 20);
    CHECK(Ledger::limit_of(LedgerUse::type, 256 << 20) == 56 << 20);
    CHECK(Ledger::limit_of(LedgerUse::move, 256 << 20) == 84 << 20);
}

TEST_CASE("whose messages exceed its budget is barred, and no other one") {
    Ledger ledger({.peer = 1000, .peers = 1500});
    const Charge of_other = ledger.take(peer(1), 1000, LedgerUse::message);
    CHECK(ledger.bar_next() == nullptr);
    // What can be refused does not matter.
    CHECK_FALSE(ledger.take(peer(0), 1001, LedgerUse::chunk));
    CHECK_FALSE(ledger.take(peer(0), 1001, LedgerUse::request));
    CHECK(ledger.bar_next() == nullptr);
    CHECK_FALSE(ledger.take(peer(0), 1001, LedgerUse::message));
    CHECK_FALSE(ledger.is_barred(peer(0)));
    CHECK(ledger.bar_next() == peer(0));
    CHECK((ledger.is_barred(peer(0)) && !ledger.is_barred(peer(1)) && ledger.barred() == 1));
    CHECK(ledger.bar_next() == nullptr);
    for (const LedgerUse use : {LedgerUse::message, LedgerUse::request, LedgerUse::chunk})
        CHECK_FALSE(ledger.take(peer(0), 1, use));
    CHECK(ledger.bar_next() == nullptr);
    ledger.close(peer(0));
    CHECK(ledger.take(peer(0), 1, LedgerUse::message));
}

TEST_CASE("if all together keep too much, those who keep most are barred, until it is enough") {
    Ledger ledger({.peer = 1000, .peers = 1500});
    Charge charges[4];
    const std::uint64_t bytes[] = {200, 900, 100, 500};
    for (std::size_t i = 0; i < 3; ++i)
        charges[i] = ledger.take(peer(i), bytes[i], LedgerUse::message);
    CHECK(ledger.bar_next() == nullptr);
    charges[3] = ledger.take(peer(3), bytes[3], LedgerUse::message); // too much for all, but there
    CHECK(charges[3]);
    CHECK(ledger.bar_next() == peer(1));
    CHECK(ledger.bar_next() == nullptr); // what it holds will be given back
    charges[2] = ledger.take(peer(3), 400, LedgerUse::message);
    CHECK(ledger.bar_next() == nullptr);
    const Charge more = ledger.take(peer(0), 600, LedgerUse::message);
    CHECK(ledger.bar_next() == peer(3)); // those that are left keep too much again
    charges[1].give_back();
    CHECK(ledger.bar_next() == nullptr);
    CHECK((!ledger.is_barred(peer(0)) && !ledger.is_barred(peer(2))));
}

TEST_CASE("what is left of a peer that is gone counts for all, and not for who comes after it") {
    Ledger ledger({.peer = 1000, .peers = 1500});
    Charge left = ledger.take(peer(0), 900, LedgerUse::message);
    ledger.close(peer(0));
    ledger.close(peer(3)); // which never was there
    CHECK((ledger.bytes() == 900 && ledger.bytes_of(peer(0)) == 0));
    Charge after = ledger.take(peer(0), 500, LedgerUse::message);
    CHECK(after);
    CHECK_FALSE(ledger.take(peer(1), 120, LedgerUse::request));
    left.shrink_to(100);
    CHECK(ledger.take(peer(1), 120, LedgerUse::request));
    after.give_back();
    left.give_back();
    CHECK(ledger.bytes() == 0);
}

TEST_CASE("what is remembered has a limit of its own") {
    Ledger ledger({.peer = 1000, .peers = 1000, .remembered = 100});
    CHECK(ledger.remembered_limit() == 100);
    Charge remembered = ledger.take_remembered(100);
    CHECK(remembered);
    CHECK_FALSE(ledger.take_remembered(1));
    const Charge of_peer = ledger.take(peer(0), 1000, LedgerUse::message);
    CHECK((of_peer && ledger.bytes() == 1100 && ledger.bar_next() == nullptr));
    remembered = Charge();
    CHECK(ledger.take_remembered(100));
}

TEST_CASE("a peer causes so much work in a call, and pays what was more in later ones") {
    constexpr auto most = static_cast<std::uint64_t>(Ledger::steps_of_call);
    Ledger ledger({});
    CHECK(ledger.may_work(peer(0))); // nobody is known yet
    ledger.note_work(peer(0), 10 * most);
    CHECK(ledger.may_work(peer(0)));
    const Charge here = ledger.take(peer(0), 1, LedgerUse::message),
                 there = ledger.take(peer(1), 1, LedgerUse::message);
    ledger.note_work(peer(0), most - 1);
    CHECK(ledger.may_work(peer(0)));
    ledger.note_work(peer(0), 1);
    CHECK_FALSE(ledger.may_work(peer(0)));
    CHECK(ledger.may_work(peer(1)));
    ledger.begin_call();
    CHECK(ledger.may_work(peer(0)));
    ledger.note_work(peer(0), 3 * most); // as one type of many bytes
    for (int i = 0; i < 2; ++i) {
        ledger.begin_call();
        CHECK_FALSE(ledger.may_work(peer(0)));
    }
    ledger.begin_call();
    CHECK(ledger.may_work(peer(0)));
    // Who was quiet has saved nothing.
    for (int i = 0; i < 100; ++i) ledger.begin_call();
    CHECK(ledger.may_work(peer(0)));
    ledger.note_work(peer(0), most);
    CHECK_FALSE(ledger.may_work(peer(0)));
    ledger.note_work(peer(0), UINT64_MAX);
    CHECK_FALSE(ledger.may_work(peer(0)));
}

TEST_CASE("pieces are of whole granules, and no more than a part of a call's work") {
    CHECK((steps_of(0, 0, 0) == 1 && steps_of(0, 0) == 1));
    CHECK((steps_of(3200, 100) == 201 && steps_of(3200, 100, 3200) == 201));
    CHECK(steps_of(UINT64_MAX, UINT64_MAX) > INT64_MAX / 8);
    CHECK(steps_of(3200, 1, 3200) == 102); // contiguous
    CHECK(steps_of(1000, 1000, 1000) > 1000);
    CHECK(steps_of(UINT64_MAX, UINT64_MAX, UINT64_MAX) == 1000000000000000001);
    CHECK(piece_of(1000, 10, 7) == 1000); // few steps: all of it
    constexpr std::uint64_t all = 1 << 20;
    const std::uint64_t piece = piece_of(all, all, 12);
    CHECK((piece > 0 && piece % 12 == 0));
    CHECK((piece <= Ledger::steps_of_call / 4 && piece > Ledger::steps_of_call / 4 - 24));
    CHECK(piece_of(100, UINT64_MAX, 16) == 16);
    CHECK(piece_of(10, UINT64_MAX, 16) == 10);
}

TEST_CASE("threads may share a ledger") {
    Ledger ledger({.peer = 1 << 20, .peers = 1 << 20});
    ledger.be_shared_by_threads(true);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&ledger, t] {
            for (int i = 0; i < 2000; ++i) {
                Charge charge = ledger.take(peer(t % 2), 10, LedgerUse::message);
                ledger.begin_call();
                if (ledger.may_work(peer(t % 2))) ledger.note_work(peer(t % 2), 1);
                if (i % 100 == 0) ledger.close(peer(t % 2));
                charge.shrink_to(5);
            }
        });
    for (std::thread &thread : threads) thread.join();
    CHECK(ledger.bytes() == 0);
}

} // namespace ledger_test
