// Hostile offers to read data where it is: by a peer that has a link, and so knows its key, and by
// one that has none.

#include "api/object.h"
#include "support/device_test.hpp"
#include "ucx/offer_victim.hpp"

namespace attacks_direct_test {

using namespace ucdtest;

DEVICE_TEST("hostile offers to read data are declined, and nothing is read") {
    OfferVictim a;
    CHECK(a.takes(a.honest())); // the others differ from it in one thing
    const std::intptr_t lengths[] = {offered - 1, 1}, places[] = {0, INTPTR_MAX - 1000};
    const std::string far =
        taken_apart(made(ucd_create_hindexed, 2, lengths, places, UCD_TYPE__BYTE));
    a.send_type(far);
    const struct {
        const char *what;
        std::function<void(DirectPlace &)> change;
    } lies[] = {
        {"low", [](auto &p) { p.low = -1; }},
        {"high", [](auto &p) { p.high = offered + 1; }},
        {"a low within the layout", [](auto &p) { p.low = 1; }},
        {"a high within the layout", [](auto &p) { p.high = offered - 1; }},
        {"fewer bytes than the transfer has", [](auto &p) { p.high = p.count = offered - 1; }},
        {"a longer range", [](auto &p) { p.high = INT64_MAX; }},
        {"count", [](auto &p) { p.count = offered + 1; }},
        {"no count", [](auto &p) { p.count = 0; }},
        {"a huge count", [](auto &p) { p.count = UINT64_MAX; }},
        {"memory to be read by system calls, as version 0.3.0 offers it",
         [&](auto &p) {
             p.memory = DirectPlace::Memory::host;
             p.base = reinterpret_cast<uintptr_t>(a.data.data());
             p.descriptors = 0;
             p.first_descriptor = 0;
             p.handle = {};
         }},
        {"a type that is not known", [](auto &p) { p.type[0] ^= 1; }},
        {"device memory", [](auto &p) { p.memory = DirectPlace::Memory::ipc; }},
        {"another kind of memory",
         [](auto &p) { p.memory = static_cast<DirectPlace::Memory>(77); }},
        {"a layout that ends beyond all addresses",
         [&](auto &p) {
             p.count = 1;
             p.high = INTPTR_MAX - 999;
             p.type = ucd_ucx::content_id(far.data(), far.size());
         }},
        {"a number of before", [](auto &p) { p.number = 1; }},
    };
    for (const auto &lie : lies) {
        INFO(lie.what);
        DirectHeader offer = a.honest();
        lie.change(offer.place);
        CHECK_FALSE(a.takes(offer));
        CHECK(a.was_declined());
    }
    for (std::size_t i = 0; i < sizeof(DirectHeader); i += 7) {
        const std::size_t in_header = offsetof(ucd_ucx::MessageHeader, id);
        if (i < in_header + sizeof(ucd_ucx::MessageId) + 8) continue; // another transfer's
        if (i >= offsetof(ucd_ucx::MessageHeader, user_header) &&
            i < sizeof(ucd_ucx::MessageHeader))
            continue;
        INFO("byte " << i);
        DirectHeader forged = a.honest();
        a.authenticate(forged);
        reinterpret_cast<unsigned char *>(&forged)[i] ^= 1;
        CHECK_FALSE(a.is_taken(forged));
    }
    {
        INFO("used twice");
        DirectHeader once = a.honest();
        a.authenticate(once);
        CHECK(a.is_taken(once));
        a.set(once.header, MessageKind::direct, sizeof once.place); // of another transfer
        CHECK_FALSE(a.is_taken(once));
    }
    check_usable(a.pair);
}

DEVICE_TEST("an offer without a link is declined") {
    for (const bool comes_before : {false, true}) {
        OfferVictim a;
        DirectHeader offer = a.honest();
        a.authenticate(offer);
        if (!comes_before) a.unlink();
        const bool taken =
            comes_before ? a.is_taken(offer, true, [&] { a.unlink(); }) : a.is_taken(offer);
        CHECK_FALSE(taken);
        CHECK(a.was_declined());
        check_usable(a.pair);
    }
}

DEVICE_TEST("a type is learned from a peer that has a link, and says nothing without a meaning") {
    OfferVictim a;
    const auto learns = [&](std::intptr_t stride, uint16_t detail = 0) {
        const std::string text = taken_apart(made(ucd_create_vector, 3, 1, stride, UCD_TYPE__INT));
        MessageHeader header;
        a.set(header, MessageKind::direct_type, 0);
        header.detail = detail;
        a.send(header, text, false);
        a.attacker.progress(20);
        const ucd_ucx::ContentId id = ucd_ucx::content_id(text.data(), text.size());
        return a.pair.b.pipeline->transfers.types_of_peers.find(id) != nullptr;
    };
    CHECK(learns(2));
    CHECK_FALSE(learns(3, 1));
    a.unlink();
    CHECK_FALSE(learns(4));
    CHECK_FALSE(learns(5, 1));
    check_usable(a.pair);
}

DEVICE_TEST("offered that are no types are not remembered, and cost little") {
    OfferVictim a;
    run_cases("ucx direct types", 200, [&](Case &one) {
        std::string text = a.type;
        text.resize(one.rng().below(2000), 'x');
        for (std::size_t i = one.rng().below(4); i > 0 && !text.empty(); --i)
            text[one.rng().below(text.size())] ^= static_cast<char>(1 + one.rng().below(255));
        a.send_type(text);
    });
    CHECK(a.takes(a.honest()));
    check_usable(a.pair);
}

DEVICE_TEST("a peer that declines what was not offered, or has ended, does no harm") {
    const Keys keys({ALWAYS_DIRECT}), not_this({{"ucd.ucx.direct", "no"}});
    PipelineSide side(keys.get());
    Attacker attacker(side.address(), [&] { ucd_ucx_progress(side.pipeline); });
    side.connect(attacker.side.address());
    for (const std::size_t ints : {std::size_t{10}, std::size_t{5000}}) {
        Strided in(ints);
        Outcome sent;
        start_active(side, {in.data(), 1, in.type()}, sent, "h", 1, not_this.get());
        REQUIRE(attacker.within(5, [&] { return !attacker.received.empty(); }));
        wire::Header first;
        REQUIRE(wire::decode(attacker.received.front().header, first));
        for (std::uint16_t why = 0; why < 4; ++why) {
            wire::Message decline;
            decline.kind = wire::decline;
            decline.id = {first.stream, first.number};
            decline.status = why;
            attacker.active(decline);
            attacker.progress(10);
        }
        CHECK(attacker.within(5, [&] { return sent.done(); }));
        CHECK(sent.result.status == UCS_OK);
        attacker.progress(100);
        // It was not offered again, and all of it has come once.
        int offers = 0;
        std::size_t bytes = 0;
        for (const Attacker::Received &message : attacker.received) {
            wire::Header header;
            REQUIRE(wire::decode(message.header, header));
            offers += header.kind == wire::user_offer;
            if (header.kind == wire::whole || header.kind == wire::chunk)
                bytes += message.data.size();
        }
        CHECK(offers == (ints > 10));
        CHECK(bytes == in.bytes());
        attacker.received.clear();
    }
    side.close_endpoint();
}

DEVICE_TEST("messages about direct transfers in any order do no harm") {
    OfferVictim a;
    run_cases("ucx direct messages", 300, [&](Case &one) {
        Rng &rng = one.rng();
        DirectHeader offer = a.honest();
        offer.header.kind = static_cast<MessageKind>(24 + rng.below(4));
        offer.header.total = rng.chance(50) ? offered : rng.bits();
        offer.header.detail = static_cast<uint16_t>(rng.bits());
        const std::size_t following[] = {0, sizeof(ucd_ucx::Introduction), sizeof offer.place};
        const std::size_t length = following[rng.below(3)];
        offer.header.user_header = static_cast<uint32_t>(length);
        a.authenticate(offer);
        const std::string text(reinterpret_cast<const char *>(&offer),
                               sizeof offer.header + length);
        if (rng.chance(50))
            a.attacker.active_by_rendezvous(text, std::string(rng.below(20) + 1, 'r'));
        else
            a.attacker.active(text, std::string(rng.below(20), 'r'));
        if (rng.chance(70)) a.id = a.attacker.new_id();
        a.attacker.progress(3);
    });
    check_usable(a.pair);
}

} // namespace attacks_direct_test
