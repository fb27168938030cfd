// What libucd-ucx looks things up in, by itself: messages by their endpoints, types by what they
// are.

#include "c_api/allocations.hpp"
#include "pipeline/message_table.h"
#include "pipeline/recv_message.h"
#include "pipeline/transfers.h"
#include "rma/one_sided.h"
#include "support/catch.hpp"
#include "types/known_types.h"
#include "ucx/attacker.hpp"
#include "ucx/pair.hpp"

#include <memory>
#include <new>
#include <string>
#include <vector>

namespace tables_test {

using namespace ucdtest;
using namespace ucd_ucx;

namespace {

// Addresses that stand for endpoints.
struct Endpoints {
    char places[4];
    ucp_ep_h operator[](std::size_t i) { return reinterpret_cast<ucp_ep_h>(&places[i]); }
};

// A table, with what it belongs to.
struct Table {
    WorkerEngine engine;
    Transfers transfers{engine};
    MessageTable &table = transfers.messages;
    Ledger &ledger = engine.ledger;
    explicit Table(const Ledger::Limits &budgets) : engine({}, {.budgets = budgets}) {}
};

MessageHeader header_of(MessageKind kind, uint64_t stream, uint64_t number) {
    MessageHeader h;
    h.kind = kind;
    h.id = {stream, number};
    h.total = 1000;
    return h;
}

// A type that differs from those with other strides.
std::string flattened_vector(std::intptr_t stride) {
    ucd_type_t made;
    ok(ucd_create_vector(3, 1, stride, UCD_TYPE__INT, UCD_INFO__NULL, &made), "vector");
    std::string bytes = flattened(made);
    ok(ucd_free(&made), "free");
    return bytes;
}

} // namespace

TEST_CASE("transfers are charged to the endpoints that they come from") {
    Endpoints eps;
    const uint64_t one = RecvMessage::bytes_of_entry;
    Table of({.peer = 2 * one, .peers = 1 << 20});
    MessageTable &table = of.table;
    Ledger &ledger = of.ledger;
    RecvMessage *const first = table.get(eps[0], header_of(MessageKind::chunk, 1, 1), 0);
    REQUIRE(first != nullptr);
    CHECK(table.get(eps[0], header_of(MessageKind::chunk, 1, 1), 0) == first);
    CHECK(ledger.bytes_of(eps[0]) == one);
    CHECK(table.get(eps[0], header_of(MessageKind::chunk, 1, 2), 0) != nullptr);
    CHECK(table.get(eps[1], header_of(MessageKind::chunk, 2, 1), 0) != nullptr);
    CHECK(table.get(nullptr, header_of(MessageKind::chunk, 3, 1), 0) !=
          nullptr); // on nobody's account
    CHECK(ledger.bytes() == 3 * one);
    CHECK(ledger.bar_next() == nullptr);
    CHECK(table.get(eps[0], header_of(MessageKind::chunk, 1, 3), 0) == nullptr);
    CHECK(table.find(eps[0], {1, 3}) == nullptr);
    CHECK(ledger.bar_next() == eps[0]);
    table.forget(*first);
    table.delete_forgotten();
    CHECK(ledger.bytes_of(eps[0]) == one);
    CHECK(table.get(eps[0], header_of(MessageKind::chunk, 1, 3), 0) == nullptr); // it is barred
    CHECK(table.get(eps[1], header_of(MessageKind::chunk, 2, 2), 0) != nullptr);
    table.clear();
    CHECK(ledger.bytes() == 0);
}

TEST_CASE("an endpoint that has been used since its failure keeps its streams") {
    Endpoints eps;
    Table of({.peer = 1 << 20, .peers = 1 << 20});
    REQUIRE(of.table.get(eps[0], header_of(MessageKind::chunk, 5, 1), 3) != nullptr);
    of.table.remove_endpoint(eps[0], 3);
    CHECK(of.table.streams_of(eps[0], UINT64_MAX) == std::vector<uint64_t>{5});
    of.table.remove_endpoint(eps[0], 4);
    CHECK(of.table.streams_of(eps[0], UINT64_MAX).empty());
    of.table.clear();
}

TEST_CASE("a message for which there is no memory has no entry") {
    Endpoints eps;
    const MessageHeader header = header_of(MessageKind::chunk, 1, 1);
    for (std::size_t nth = 1;; ++nth) {
        Table of({.peer = 1 << 20, .peers = 1 << 20});
        MessageTable &table = of.table;
        const RecvMessage *message = nullptr;
        fail_allocation(nth);
        try {
            message = table.get(eps[0], header, 0);
        } catch (const std::bad_alloc &) {
        }
        const bool had_memory = end_failing();
        CHECK((message != nullptr) == had_memory);
        const RecvMessage *const first = table.next_of(eps[0], std::nullopt);
        CHECK((first != nullptr) == had_memory);
        if (first != nullptr) CHECK(table.next_of(eps[0], first->id()) == nullptr);
        CHECK(table.get(eps[0], header, 0) != nullptr);
        table.clear();
        if (!had_memory) continue;
        CHECK(nth > 3);
        return;
    }
}

TEST_CASE("streams that have ended are remembered, the last 1024 of them") {
    Table of({.peer = 1 << 20, .peers = 1 << 20});
    MessageTable &table = of.table;
    constexpr uint64_t most = 1024;
    for (uint64_t stream = 1; stream <= most; ++stream)
        CHECK(table.end_stream(stream, UCS_ERR_CANCELED).empty());
    (void)table.end_stream(2, UCS_ERR_TIMED_OUT); // it has ended already
    const auto opens = [&](uint64_t stream) {
        ucs_status_t status = UCS_OK;
        const RecvMessage *message =
            table.open(header_of(MessageKind::opening, stream, 1), &status);
        if (message == nullptr) CHECK(status == UCS_ERR_CANCELED);
        return message != nullptr;
    };
    for (const uint64_t stream : {uint64_t{1}, uint64_t{2}, most}) CHECK_FALSE(opens(stream));
    (void)table.end_stream(most + 1, UCS_ERR_CANCELED);
    CHECK(opens(1));
    for (const uint64_t stream : {uint64_t{2}, most, most + 1}) CHECK_FALSE(opens(stream));
    (void)table.end_stream(most + 2, UCS_ERR_CANCELED);
    CHECK(opens(2));
    CHECK_FALSE(opens(3));
    table.clear();
}

TEST_CASE("the end of a stream is that of its own transfers, as far as they are only opened") {
    Endpoints eps;
    Table of({.peer = 1 << 20, .peers = 1 << 20});
    MessageTable &table = of.table;
    ucs_status_t status;
    const auto open = [&](uint64_t stream, uint64_t number) {
        return table.open(header_of(MessageKind::opening, stream, number), &status);
    };
    RecvMessage *const before = open(1, UINT64_MAX), *const first = open(2, 0),
                       *const second = open(2, UINT64_MAX), *const behind = open(3, 0);
    REQUIRE(table.get(eps[0], header_of(MessageKind::chunk, 2, 1), 0) != nullptr);
    CHECK(table.end_stream(2, UCS_ERR_CANCELED) == std::vector{first, second});
    CHECK(table.end_stream(1, UCS_ERR_CANCELED) == std::vector{before});
    CHECK(table.end_stream(3, UCS_ERR_CANCELED) == std::vector{behind});
    CHECK(table.end_stream(4, UCS_ERR_CANCELED).empty());
    table.clear();
}

TEST_CASE("an opening finds its transfer, whichever of its messages came first") {
    Endpoints eps;
    Table of({.peer = 1 << 20, .peers = 1 << 20});
    MessageTable &table = of.table;
    ucs_status_t status;
    for (const MessageKind kind : {MessageKind::offer, MessageKind::chunk}) {
        const auto number = static_cast<uint64_t>(kind);
        RecvMessage *first = table.get(eps[0], header_of(kind, 1, number), 0);
        CHECK(table.open(header_of(MessageKind::opening, 1, number), &status) == first);
        CHECK(table.open(header_of(MessageKind::opening, 1, number), &status) == nullptr);
        CHECK(status == UCS_ERR_INVALID_PARAM);
        // The other way round; from then on it is the endpoint's.
        RecvMessage *opened = table.open(header_of(MessageKind::opening, 2, number), &status);
        REQUIRE(opened != nullptr);
        CHECK(table.get(eps[1], header_of(kind, 2, number), 0) == opened);
        CHECK(table.find(eps[1], {2, number}) == opened);
        CHECK(table.find(nullptr, {2, number}) == nullptr);
        CHECK(table.open(header_of(MessageKind::opening, 2, number), &status) != opened);
    }
    // What a user's handler is told of, no tagged message opens.
    const RecvMessage *users = table.get(eps[2], header_of(MessageKind::user_offer, 3, 1), 0);
    CHECK(table.open(header_of(MessageKind::opening, 3, 1), &status) != users);
    table.clear();
}

TEST_CASE("of what was used last, as much is kept as its limit says") {
    Recent<int, std::hash<int>> recent(100);
    const auto type_of = [](uint64_t cost) {
        auto type = std::make_shared<PeerType>();
        type->cost = cost;
        return type;
    };
    const TypePtr one = type_of(40), two = type_of(40), three = type_of(20);
    recent.add(1, one);
    recent.add(2, two);
    recent.add(3, three); // exactly as much
    CHECK(recent.forgotten() == 0);
    for (int round = 0; round < 2; ++round)
        CHECK((recent.find(2) == two && recent.find(3) == three && recent.find(1) == one));
    recent.add(1, type_of(10)); // is there already
    CHECK(recent.find(1) == one);
    recent.add(4, type_of(101)); // never fits
    CHECK((recent.find(4) == nullptr && recent.forgotten() == 0));
    recent.add(5, type_of(60)); // in place of the two that were used longest ago
    CHECK((recent.find(2) == nullptr && recent.find(3) == nullptr && recent.find(1) == one));
    CHECK((recent.find(5) != nullptr && recent.forgotten() == 2));
}

TEST_CASE("what is in use is not forgotten, where the limit is one on all that exists") {
    Recent<int, std::hash<int>, true> recent(100);
    const auto type_of = [](uint64_t cost) {
        auto type = std::make_shared<PeerType>();
        type->cost = cost;
        return type;
    };
    CHECK(recent.add(1, type_of(50)));
    const TypePtr used = recent.find(1);
    CHECK(recent.add(2, type_of(50)));
    CHECK(recent.add(3, type_of(50))); // in place of the other one
    CHECK((recent.find(1) == used && recent.find(2) == nullptr && recent.find(3) != nullptr));
    const TypePtr also_used = recent.find(3);
    CHECK_FALSE(recent.add(4, type_of(1)));
    CHECK((recent.find(1) == used && recent.find(3) == also_used && recent.forgotten() == 1));
}

// A peer can have all types in use, and have each of its messages ask for room.
TEST_CASE("making room passes by few of the types that are in use, and finds one that is not") {
    using ForTarget = Recent<int, std::hash<int>, true>;
    constexpr int types = 1000;
    ForTarget recent(types);
    std::vector<TypePtr> used;
    for (int key = 0; key < types; ++key) {
        auto type = std::make_shared<PeerType>();
        type->cost = 1;
        used.push_back(type);
        REQUIRE(recent.add(key, type));
    }
    for (int i = 0; i < 10; ++i) CHECK_FALSE(recent.make_room(1));
    REQUIRE(recent.find(5) == used[5]); // which is the last one to be passed by
    used[5] = nullptr;
    int calls = 1;
    while (!recent.make_room(1) && calls < types) ++calls;
    CHECK(calls >= types / static_cast<int>(ForTarget::max_looks));
    CHECK(calls <= types / static_cast<int>(ForTarget::max_looks) + 1);
    CHECK((recent.find(5) == nullptr && recent.forgotten() == 1));
}

TEST_CASE("each type of a target is charged, to its peer or to what is remembered") {
    Endpoints eps;
    Ledger ledger({.peer = 4 << 20, .peers = 8 << 20, .remembered = 8 << 10});
    TypesOfTarget types(ledger);
    const auto learn = [&](std::intptr_t stride, TypePtr &type) {
        const std::string bytes = flattened_vector(stride);
        bool remembered = false;
        REQUIRE(types
                    .learn(bytes,
                           ledger.take(eps[0], TypesOfTarget::bytes_of_type(bytes.size()),
                                       LedgerUse::type),
                           type, &remembered)
                    .ok());
        return remembered;
    };
    TypePtr held[3], left;
    CHECK(learn(2, held[0]));
    const uint64_t cost = held[0]->cost;
    REQUIRE((cost > 3 << 10 && cost < 4 << 10)); // so two are remembered
    CHECK((ledger.bytes() == cost && ledger.bytes_of(eps[0]) == 0));
    CHECK(learn(3, held[1]));
    CHECK_FALSE(learn(4, held[2])); // both are in use
    CHECK((ledger.bytes() == 3 * cost && ledger.bytes_of(eps[0]) == cost));
    held[2] = nullptr;
    CHECK((ledger.bytes() == 2 * cost && ledger.bytes_of(eps[0]) == 0));
    held[0] = nullptr;
    CHECK(learn(5, left)); // in place of the first
    CHECK((ledger.bytes() == 2 * cost && types.forgotten() == 1));
}

TEST_CASE("a type is charged to its peer if others have taken the room to remember it") {
    Endpoints eps;
    Ledger ledger({.peer = 4 << 20, .peers = 8 << 20, .remembered = 8 << 10});
    TypesOfTarget types(ledger);
    const Charge others = ledger.take_remembered(6 << 10);
    const std::string bytes = flattened_vector(2);
    const uint64_t most = TypesOfTarget::bytes_of_type(bytes.size());
    TypePtr type;
    bool remembered = true;
    REQUIRE(types.learn(bytes, ledger.take(eps[0], most, LedgerUse::type), type, &remembered).ok());
    CHECK_FALSE(remembered);
    CHECK(types.find(type->id) == nullptr);
    CHECK(ledger.bytes_of(eps[0]) == type->cost);
    CHECK(ledger.bytes() == others.bytes() + type->cost);
    type = nullptr;
    CHECK(ledger.bytes() == others.bytes());
}

// Else an operation whose type only fits there would wait for ever.
TEST_CASE("types of operations take the place of types of transfers") {
    Endpoints eps;
    Table of({.remembered = 8 << 10});
    rma::OneSided one_sided(of.engine, of.transfers, 1);
    for (const std::intptr_t stride : {2, 3})
        of.transfers.types_of_peers.learn(eps[0], flattened_vector(stride));
    CHECK(of.ledger.bytes() > 4 << 10);
    CHECK(one_sided.target.types.take_remembered(8 << 10));
    CHECK(of.ledger.bytes() == 0);
}

TEST_CASE("a type for a direct transfer is learned if its peer may still cause work") {
    Endpoints eps;
    Ledger ledger({});
    TypesOfTarget types(ledger);
    const auto learn = [&](std::intptr_t stride) {
        const std::string bytes = flattened_vector(stride);
        types.learn(eps[0], bytes);
        return types.find(content_id(bytes.data(), bytes.size())) != nullptr;
    };
    const Charge known = ledger.take(eps[0], 1, LedgerUse::message);
    CHECK(learn(2));
    ledger.note_work(eps[0], Ledger::steps_of_call);
    CHECK_FALSE(learn(3));
    for (int i = 0; i < 3; ++i) ledger.begin_call();
    CHECK(learn(3));
}

TEST_CASE("an origin describes each type once") {
    TypesOfOrigin types(1 << 20);
    ucd_type_t vectors[3];
    TypePtr first[3], found;
    for (int i = 0; i < 3; ++i) {
        ok(ucd_create_vector(3 + i, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &vectors[i]), "vector");
        REQUIRE(types.find(vectors[i], first[i]).ok());
        CHECK(first[i]->one.bytes == 4U * (3U + static_cast<unsigned>(i)));
    }
    for (const int i : {0, 1, 1, 2, 0}) {
        REQUIRE(types.find(vectors[i], found).ok());
        CHECK(found == first[i]);
    }
    CHECK(types.find(UCD_TYPE__NULL, found).code() == UCD_ERR__INVALID_ARG);
    const ucd_layout_t *layout;
    for (const uint64_t count : {2, 2, 1, 2, 5, 0, 1, 5}) {
        REQUIRE(first[0]->measure(count, layout).ok());
        CHECK(layout->bytes == 12 * count);
    }
    for (const uint64_t count : {0, 5}) {
        CHECK(first[0]->measure(UINT64_MAX, layout).code() == UCD_ERR__OVERFLOW);
        REQUIRE(first[0]->measure(count, layout).ok());
        CHECK(layout->bytes == 12 * count);
    }
    CHECK(first[0]->takes(UCD_OP__SUM));
    for (ucd_type_t &type : vectors) ok(ucd_free(&type), "free");
}

} // namespace tables_test
