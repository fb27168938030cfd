// Parts of libucd-ucx by themselves: the states of a transfer, keys, and layouts with bytes twice.

#include "common/failure.h"
#include "datatype/options.h"
#include "pipeline/message.h"
#include "pipeline/transfer_state.h"
#include "support/catch.hpp"
#include "types/known_types.h"
#include "ucx/pair.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace transfer_parts_test {

using namespace ucdtest;
using namespace ucd_ucx;

namespace {

constexpr auto taken = Admission::accept, ignore = Admission::ignore, refuse = Admission::refuse;

// What a transfer looks at in a message.
struct MessagePart {
    MessageKind kind;
    uint64_t total, offset, bytes;
    bool rendezvous;
    unsigned route = 0, offered = 0;
};

Admission take(TransferState &state, const MessagePart &part) {
    MessageHeader header;
    header.kind = part.kind;
    header.total = part.total;
    header.offset = part.offset;
    header.detail = static_cast<uint16_t>(part.offered << 8 | part.route);
    return state.take(header, part.bytes, part.rendezvous);
}
Admission take(TransferState &&state, const MessagePart &part) {
    return take(state, part);
}

MessagePart part(MessageKind kind, uint64_t offset, uint64_t bytes, bool rendezvous = false) {
    return {kind, 100, offset, bytes, rendezvous};
}

} // namespace

TEST_CASE("a transfer is announced once, in one way") {
    const MessagePart offer = part(MessageKind::offer, 0, 0),
                      user = part(MessageKind::user_offer, 0, 0),
                      whole = part(MessageKind::whole, 0, 100);
    for (const MessagePart &first : {offer, user, whole})
        for (const MessagePart &second : {offer, user, whole}) {
            TransferState state(100);
            CHECK(take(state, first) == taken);
            TransferState opened = state;
            CHECK((opened.open(100) == taken) == (first.kind == MessageKind::offer));
            CHECK(take(state, second) == refuse);
            CHECK(state.is_whole() ==
                  (first.kind == MessageKind::whole || second.kind == MessageKind::whole));
        }
    for (MessagePart wrong : {offer, user, whole}) {
        MessagePart other = wrong;
        other.total = 99;
        CHECK(take(TransferState(100), other) == refuse);
        other = wrong;
        other.bytes ^= 1;
        CHECK(take(TransferState(100), other) == refuse);
    }
    CHECK(take(TransferState(100), part(MessageKind::whole, 1, 100)) == refuse);
    CHECK(take(TransferState(100), part(MessageKind::opening, 0, 0)) == refuse);
    CHECK(take(TransferState(100), part(MessageKind::withdraw, 0, 0)) == taken);
    CHECK(take(TransferState(100), part(MessageKind::withdraw, 0, 1)) == refuse);
}

TEST_CASE("numbers that have no meaning in a message have to be 0") {
    const struct {
        MessageKind kind;
        bool is_tagged;
        unsigned detail;
        const char *used; // detail, offset, user's id, bytes that follow, total
    } messages[] = {
        {MessageKind::whole, true, 0, "t"},          {MessageKind::whole, false, 0, "uft"},
        {MessageKind::offer, false, 0, "t"},         {MessageKind::opening, true, 0, "t"},
        {MessageKind::user_offer, false, 0, "uft"},  {MessageKind::chunk, false, 0, "out"},
        {MessageKind::withdraw, false, 1, "dut"},    {MessageKind::route, false, 0x0100, "dut"},
        {MessageKind::route, false, 0x0301, "duft"}, {MessageKind::ring_chunk, false, 0, "ouft"},
        {MessageKind::introduction, false, 0, "uf"}, {MessageKind::direct, false, 0, "uft"},
        {MessageKind::direct_type, false, 0, "ut"},  {MessageKind::decline, false, 1, "dt"},
    };
    for (const auto &message : messages) {
        INFO("kind " << static_cast<int>(message.kind));
        MessageHeader good;
        good.kind = message.kind;
        good.detail = static_cast<uint16_t>(message.detail);
        CHECK(good.unused_are_zero(message.is_tagged));
        for (const unsigned bit : {2U, 15U}) {
            const auto check = [&](char name, auto MessageHeader::*number) {
                MessageHeader other = good;
                other.*number =
                    static_cast<std::decay_t<decltype(other.*number)>>(other.*number | 1U << bit);
                INFO(name << ", bit " << bit);
                CHECK(other.unused_are_zero(message.is_tagged) ==
                      (std::string(message.used).find(name) != std::string::npos));
            };
            check('d', &MessageHeader::detail);
            check('o', &MessageHeader::offset);
            check('u', &MessageHeader::user_id);
            check('f', &MessageHeader::user_header);
            check('t', &MessageHeader::total);
        }
    }
    for (const MessageKind kind : {MessageKind::route, MessageKind::ring_chunk})
        for (const RingPlace &place : {RingPlace{{}, 1, 0}, RingPlace{{}, 0, 1}})
            CHECK(place.unused_are_zero(kind) == (kind == MessageKind::ring_chunk));
}

TEST_CASE("an offer to read data says nothing that has no meaning") {
    using Memory = DirectPlace::Memory;
    for (const Memory memory : {Memory::host, Memory::ipc, Memory::attached}) {
        DirectPlace place;
        place.memory = memory;
        CHECK(place.unused_are_zero());
        const bool has_handle = memory != Memory::host;
        DirectPlace other = place;
        other.handle.bytes[127] = 1;
        CHECK(other.unused_are_zero() == has_handle);
        other = place;
        other.descriptors = 1;
        CHECK(other.unused_are_zero() == has_handle);
        other.first_descriptor = 1;
        CHECK(other.unused_are_zero() == has_handle);
        other.descriptors = 0;
        CHECK_FALSE(other.unused_are_zero());
    }
    DirectPlace place;
    place.memory = static_cast<Memory>(3);
    CHECK_FALSE(place.unused_are_zero());
}

TEST_CASE("a transfer is opened once, by a tagged message of its size") {
    TransferState state(100);
    CHECK(state.open(99) == refuse);
    CHECK(state.open(100) == taken);
    CHECK(state.open(100) == refuse);
    CHECK(take(state, part(MessageKind::user_offer, 0, 0)) == refuse);
    CHECK(take(state, part(MessageKind::whole, 0, 100)) == refuse);
    CHECK(take(state, part(MessageKind::offer, 0, 0)) == taken);
    CHECK(take(state, part(MessageKind::offer, 0, 0)) == refuse);
    CHECK(state.stage() == TransferStage::announced);

    TransferState user(100);
    CHECK(take(user, part(MessageKind::user_offer, 0, 0)) == taken);
    CHECK(user.open(100) == refuse);
    CHECK(user.stage() == TransferStage::announced);
}

namespace {

using Stage = TransferStage;

// By the shortest way.
TransferState state_in(Stage stage) {
    TransferState s(100);
    const bool claims = stage >= Stage::matched && stage <= Stage::late;
    bool good = true;
    if (stage == Stage::delivered || stage == Stage::revoked) good &= s.deliver();
    if (claims) good &= s.claim(stage != Stage::matched);
    if (stage == Stage::discarding || stage == Stage::late) good &= s.release();
    if (stage == Stage::late) good &= s.become_late();
    if (stage >= Stage::withdrawn) good &= s.end();
    if (stage == Stage::over) good &= s.lose_endpoint();
    CHECK(good);
    CHECK(s.stage() == stage);
    return s;
}

} // namespace

TEST_CASE("each stage of a transfer is followed by those that may follow it, and by no other") {
    constexpr auto none = static_cast<Stage>(255);
    struct Row {
        Stage from;
        Stage deliver, claim, open_claim, release, late, end, lose;
    };
    const Row rows[] = {
        {Stage::announced, Stage::delivered, Stage::receiving, Stage::matched, Stage::discarding,
         none, Stage::withdrawn, none},
        {Stage::delivered, none, Stage::receiving, Stage::matched, Stage::discarding, none,
         Stage::revoked, none},
        {Stage::matched, none, Stage::receiving, Stage::matched, Stage::discarding, none,
         Stage::over, none},
        {Stage::receiving, none, none, none, Stage::discarding, none, Stage::over, none},
        {Stage::discarding, none, none, none, none, Stage::late, Stage::over, none},
        {Stage::late, none, none, none, none, none, Stage::over, none},
        {Stage::withdrawn, none, none, none, Stage::over, none, none, Stage::over},
        {Stage::revoked, none, none, none, Stage::over, none, none, none},
        {Stage::over, none, none, none, none, none, none, none},
    };
    for (const Row &row : rows) {
        INFO("stage " << static_cast<int>(row.from));
        const auto check = [&row](auto &&happens, Stage expected) {
            TransferState s = state_in(row.from);
            CHECK(happens(s) == (expected != none));
            CHECK(s.stage() == (expected == none ? row.from : expected));
        };
        check([](TransferState &s) { return s.deliver(); }, row.deliver);
        check([](TransferState &s) { return s.claim(true); }, row.claim);
        check([](TransferState &s) { return s.claim(false); }, row.open_claim);
        check([](TransferState &s) { return s.release(); }, row.release);
        check([](TransferState &s) { return s.become_late(); }, row.late);
        check([](TransferState &s) { return s.end(); }, row.end);
        check([](TransferState &s) { return s.lose_endpoint(); }, row.lose);
        // Data is taken before the end only, and is counted once all the same.
        TransferState s = state_in(row.from);
        const bool takes = row.from <= Stage::receiving;
        CHECK(s.takes_data() == takes);
        CHECK(take(s, part(MessageKind::chunk, 0, 10)) == (takes ? taken : ignore));
        CHECK(take(s, part(MessageKind::chunk, 0, 10)) == refuse);
        CHECK(s.is_claimed() == (row.from >= Stage::matched && row.from <= Stage::late));
        CHECK(s.is_discarding() == (row.from == Stage::discarding || row.from == Stage::late));
    }
}

TEST_CASE("chunks of a transfer fit into it, and come once") {
    for (const MessageKind kind : {MessageKind::chunk, MessageKind::ring_chunk}) {
        TransferState state(100);
        const auto chunk = [&](uint64_t offset, uint64_t bytes) {
            return take(state, part(kind, offset, bytes, true));
        };
        CHECK(chunk(0, 0) == refuse);
        CHECK(chunk(100, 1) == refuse);
        CHECK(chunk(99, 2) == refuse);
        CHECK(chunk(101, UINT64_MAX) == refuse);
        CHECK(chunk(101, 1) == refuse);
        CHECK(chunk(50, 50) == taken);
        CHECK(chunk(99, 1) == refuse);
        CHECK_FALSE(state.is_whole());
        CHECK(chunk(0, 49) == taken);
        CHECK_FALSE(state.is_whole());
        CHECK(state.release());
        CHECK(chunk(49, 1) == ignore);
        CHECK(state.is_whole());
        CHECK(chunk(49, 1) == refuse);
    }
    // Chunks of a ring wait at the sender; others need not.
    CHECK(take(TransferState(100), part(MessageKind::ring_chunk, 0, 10, false)) == refuse);
    CHECK(take(TransferState(100), part(MessageKind::chunk, 0, 10, false)) == taken);
    const uint64_t most = max_chunk;
    TransferState large(2 * most);
    CHECK(take(large, {MessageKind::chunk, 2 * most, 0, most + 1, false}) == refuse);
    CHECK(take(large, {MessageKind::chunk, 2 * most, 0, most, false}) == taken);
}

namespace {

MessagePart offer_of(unsigned route, uint8_t offered, bool rendezvous = true) {
    MessagePart p = part(MessageKind::route, 0, 0, rendezvous);
    p.route = route;
    p.offered = offered;
    return p;
}

} // namespace

TEST_CASE("each route is offered once, with the same list of routes") {
    for (const unsigned first : {0U, 1U, 2U}) {
        TransferState state(100);
        CHECK_FALSE(state.all_routes_came());
        for (unsigned i = 0; i < 3; ++i) { // also those that this version does not know
            const unsigned route = (first + i) % 3;
            CHECK_FALSE(state.has_come(static_cast<ChunkRoute>(route)));
            CHECK(take(state, offer_of(route, 7)) == taken);
            CHECK(state.has_come(static_cast<ChunkRoute>(route)));
            CHECK(take(state, offer_of(route, 7)) == ignore);
            CHECK(state.all_routes_came() == (i == 2));
        }
        CHECK(take(state, offer_of(0, 3)) == refuse);
        CHECK(take(state, offer_of(3, 15)) == refuse);
    }
    // What is not in its own list.
    CHECK(take(TransferState(100), offer_of(1, 1)) == refuse);
    CHECK(take(TransferState(100), offer_of(0, 0)) == refuse);
    for (const unsigned route : {8U, 255U})
        CHECK(take(TransferState(100), offer_of(route, 255)) == refuse);
    CHECK(take(TransferState(100), offer_of(7, 255)) == taken);
    // With data of the transfer.
    MessagePart data = offer_of(0, 3);
    data.bytes = 1;
    CHECK(take(TransferState(100), data) == refuse);
    // Too late, and what UCX has answered already.
    TransferState dropped(100);
    CHECK(dropped.release());
    CHECK(take(dropped, offer_of(0, 3)) == ignore);
    TransferState told(100);
    CHECK(take(told, offer_of(0, 3, false)) == ignore);
    CHECK(take(told, offer_of(0, 3)) == ignore);
    CHECK(take(told, offer_of(1, 3)) == taken);
    CHECK(told.all_routes_came());
}

namespace {

// The edit distance with swaps of neighbours, from the ends on.
std::size_t distance(const std::string &a, const std::string &b) {
    std::vector<std::vector<std::size_t>> rest(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = a.size() + 1; i-- > 0;)
        for (std::size_t j = b.size() + 1; j-- > 0;) {
            if (i == a.size() || j == b.size()) {
                rest[i][j] = a.size() - i + b.size() - j;
                continue;
            }
            std::size_t least = std::min({rest[i + 1][j + 1] + (a[i] == b[j] ? 0 : 1),
                                          rest[i + 1][j] + 1, rest[i][j + 1] + 1});
            const bool swapped =
                i + 1 < a.size() && j + 1 < b.size() && a[i] == b[j + 1] && a[i + 1] == b[j];
            if (swapped) least = std::min(least, rest[i + 2][j + 2] + 1);
            rest[i][j] = least;
        }
    return rest[0][0];
}

} // namespace

TEST_CASE("the nearest key is named in place of one that does not exist") {
    const std::string all[] = {"chunk",        "depth",
                               "eager",        "form",
                               "iov_entries",  "iov_segment",
                               "peer_memory",  "peers_memory",
                               "ring",         "ring_chunk",
                               "ring_depth",   "ring_expose",
                               "ring_staging", "rma.peer_operations",
                               "rma.types",    "staging",
                               "timeout",      "direct",
                               "direct_bytes"};
    const std::string prefix = "ucd.ucx.";
    for (const char *wrong : {"ring_", "ring_e",  "ing",  "ringdepth", "depht",  "e",      "stag",
                              "ormf",  "times",   "rung", "chnk",      "chunks", "xring",  "typ",
                              "ager",  "rig_chu", "pth",  "forms",     "tim",    "ringxyz"}) {
        std::size_t least = SIZE_MAX;
        std::string nearest;
        for (const std::string &key : all)
            if (const std::size_t d = distance(wrong, key); d < least) {
                least = d;
                nearest = key;
            }
        INFO(wrong << " is nearest to " << nearest);
        CHECK(check_keys(Keys({{prefix + wrong, "1"}}).get()).code() == UCD_ERR__INVALID_ARG);
        const std::string said = last_failure();
        CHECK(said.substr(said.rfind(' ') + 1) == prefix + nearest);
    }
    for (const std::string &key : all) CHECK(check_keys(Keys({{prefix + key, "1"}}).get()).ok());
    // Those of others are not looked at, however long.
    CHECK(check_keys(Keys({{"ucd.threads", "1"}, {std::string(200, 'k'), "1"}}).get()).ok());
    CHECK_FALSE(check_keys(Keys({{prefix + std::string(200, 'k'), "1"}}).get()).ok());
    CHECK(check_keys(UCD_INFO__NULL).ok());
}

namespace {

// As a target looks at a type, on the account of a peer.
Overlap overlap_of_one(ucd_type_t type, Ledger &ledger, uint64_t &work) {
    static char peer;
    PeerType known;
    REQUIRE(known.type.keep(type).ok());
    known.one.struct_size = sizeof known.one;
    ok(ucd_get_layout(1, type, &known.one), "layout");
    Overlap overlap = Overlap::unknown;
    for (int i = 0; i < 2; ++i) { // the second time it is remembered, if it was found
        bool refused;
        CHECK(
            known
                .find_overlap(1, ledger, reinterpret_cast<ucp_ep_h>(&peer), work, overlap, &refused)
                .ok());
        CHECK_FALSE(refused);
    }
    CHECK(ledger.bytes() == 0);
    return overlap;
}

} // namespace

TEST_CASE("it costs no work to see that strides have no byte twice") {
    ucd_type_t type;
    ok(ucd_create_vector(1000, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type), "vector");
    Ledger ledger({.peer = 0});
    for (const uint64_t before : {10, 5000}) {
        uint64_t work = before;
        CHECK(overlap_of_one(type, ledger, work) == Overlap::none);
        CHECK(work == before);
    }
    ok(ucd_free(&type), "free");
}

TEST_CASE("strides show that bytes occur twice only if the shortest one does") {
    ucd_layout_t box = {}; // rows of 3 bytes, 4 apart, and such rows 6 further on
    box.box_dims = 2;
    box.box_count[0] = 3;
    box.box_stride[0] = 4;
    box.box_count[1] = 2;
    box.box_stride[1] = 6;
    box.box_block = 1;
    box.bytes = box.segments = 6;
    box.high = 15;
    CHECK(overlap_of(box) == Overlap::unknown);
    box.box_block = 5;
    box.bytes = 30;
    box.high = 100;
    CHECK(overlap_of(box) == Overlap::some);
}

TEST_CASE("bytes that occur twice are found, or it is not known") {
    const auto look = [](const std::vector<std::intptr_t> &displs, uint64_t work, uint64_t left) {
        ucd_type_t type;
        ok(ucd_create_hindexed_block(static_cast<std::intptr_t>(displs.size()), 16, displs.data(),
                                     UCD_TYPE__BYTE, UCD_INFO__NULL, &type),
           "hindexed_block");
        Ledger ledger({.peer = 128}); // for 4 segments
        const Overlap overlap = overlap_of_one(type, ledger, work);
        CHECK(work == left);
        ok(ucd_free(&type), "free");
        return overlap;
    };
    // More bytes than there is room for: that costs no work.
    CHECK(look({0, 8, 17, 30}, 0, 0) == Overlap::some);
    // As much room as there are bytes, with a hole and an overlap; and more room.
    CHECK(look({0, 20, 30, 48}, 4, 0) == Overlap::some);
    CHECK(look({0, 20, 30, 48}, 3, 3) == Overlap::unknown);
    CHECK(look({0, 20, 30, 90}, 9, 5) == Overlap::some);
    CHECK(look({90, 30, 20, 0}, 9, 5) == Overlap::some);
    CHECK(look({0, 20, 36 + 1, 90}, 9, 5) == Overlap::none);
    CHECK(look({90, 37, 20, 0}, 4, 0) == Overlap::none);
    CHECK(look({0, 20, 90, 37}, 3, 3) == Overlap::unknown);
    // On both sides of address 0, and across it.
    CHECK(look({-40, -8, 0, 40}, 9, 5) == Overlap::some);
    CHECK(look({-40, -24, 0, 40}, 9, 6) == Overlap::none);
}

TEST_CASE("segments are not listed over the budget of the peer for whom they would be") {
    const std::intptr_t displacements[] = {0, 20, 37, 90};
    ucd_type_t type;
    ok(ucd_create_hindexed_block(4, 16, displacements, UCD_TYPE__BYTE, UCD_INFO__NULL, &type),
       "hindexed_block");
    char place;
    const auto peer = reinterpret_cast<ucp_ep_h>(&place);
    Ledger never({.peer = 127}), now({.peer = 128});
    uint64_t work = 100;
    CHECK(overlap_of_one(type, never, work) == Overlap::unknown);
    const Charge other = now.take(peer, 1, LedgerUse::chunk);
    PeerType known;
    REQUIRE(known.type.keep(type).ok());
    known.one.struct_size = sizeof known.one;
    ok(ucd_get_layout(1, type, &known.one), "layout");
    bool refused = false;
    Overlap overlap;
    CHECK(known.find_overlap(1, now, peer, work, overlap, &refused).ok());
    CHECK(refused);
    CHECK(work == 100);
    ok(ucd_free(&type), "free");
}

} // namespace transfer_parts_test
