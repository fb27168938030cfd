// Hostile offers to read data where it is: by a peer that has a link, and so knows its key, and by
// one that has none.

#include "common/tokens.h"
#include "direct/links.h"
#include "pipeline/message.h"
#include "support/moves/device_moves.hpp"
#include "ucx/attacker.hpp"
#include "ucx/direct_pair.hpp"

#include <unistd.h>

using namespace ucdtest;
using ucd_ucx::DirectHeader;
using ucd_ucx::DirectPlace;
using ucd_ucx::Kind;

namespace {

constexpr std::size_t bytes = 4096;

struct Attacked {
    TwoSides pair{ALWAYS_DIRECT};
    Attacker attacker{pair.b.address(), [this] {
                          pair.progress();
                          links.progress();
                      }};
    ucd_ucx::Ledger ledger{{}};
    ucd_ucx::Links links{ledger};
    std::vector<char> data = std::vector<char>(bytes, 'd'), out = std::vector<char>(bytes);
    const std::string type = flattened(UCD_TYPE__BYTE);
    wire::Id id = attacker.new_id();

    Attacked() {
        REQUIRE(ucd_ucx::start_cryptography().ok());
        ucd_ucx::IntroductionHeader header;
        set(header.header, Kind::introduction, sizeof header.introduction);
        header.header.total = 0;
        header.introduction = *links.introduce(attacker.side.ep);
        send(header, std::string(8, 'r'), true);
        REQUIRE(attacker.within(5, [&] { return link() != nullptr; }));
        send_type(type);
        // The victim looks for the key only now and then.
        for (int i = 0; i < 100; ++i) {
            attacker.progress();
            ::usleep(100);
        }
    }
    ucd_ucx::Link *link() const { return links.to_reader(attacker.side.ep); }

    void set(ucd_ucx::Header &h, Kind kind, std::size_t following) const {
        h.kind = kind;
        h.id = {id.stream, id.number};
        h.total = bytes;
        h.user_header = static_cast<uint32_t>(following);
    }
    template <class Header>
    void send(const Header &header, const std::string &with, bool by_rendezvous) {
        const std::string text(reinterpret_cast<const char *>(&header), sizeof header);
        if (by_rendezvous)
            attacker.active_by_rendezvous(text, with);
        else
            attacker.active(text, with);
    }
    void send_type(const std::string &flattened) {
        ucd_ucx::Header header;
        set(header, Kind::direct_type, 0);
        send(header, flattened, false);
    }
    DirectHeader honest() {
        DirectHeader offer;
        set(offer.header, Kind::direct, sizeof offer.place);
        DirectPlace &p = offer.place;
        p.number = link()->next_number();
        p.base = reinterpret_cast<uintptr_t>(data.data());
        p.high = bytes;
        p.count = bytes;
        p.type = ucd_ucx::content_id(type.data(), type.size());
        return offer;
    }
    void authenticate(DirectHeader &offer) const {
        offer.place.mac = link()->authenticate(&offer, ucd_ucx::bytes_under_mac);
    }
    bool was_declined() const {
        return std::any_of(attacker.received.begin(), attacker.received.end(), [](const auto &m) {
            return m.header.size() > 1 && m.header[1] == static_cast<char>(Kind::decline);
        });
    }
    // Whether the receive takes the offer. One that it declines it gets by a message.
    bool is_taken(const DirectHeader &offer, bool by_rendezvous = true) {
        Outcome received;
        const ucd_ucx_param_t p = received.param();
        std::fill(out.begin(), out.end(), 'o');
        ok(ucd_ucx_recv_nbx(pair.b.pipeline, out.data(), bytes, UCD_TYPE__BYTE, 1, UINT64_MAX, &p,
                            &received.request),
           "receive");
        ucd_ucx::Header opening;
        set(opening, Kind::offer, 0);
        send(opening, {}, false);
        opening.kind = Kind::opening;
        attacker.tagged(std::string(reinterpret_cast<const char *>(&opening), sizeof opening));
        send(offer, std::string(8, 'r'), by_rendezvous);
        attacker.received.clear();
        REQUIRE(attacker.within(5, [&] { return received.done() || was_declined(); }));
        const bool over = received.done();
        if (over) {
            // The receipt was a wrong one, so even a true offer fails in the end.
            CHECK(received.result.status != UCS_OK);
        } else {
            opening.kind = Kind::chunk;
            send(opening, std::string(bytes, 'c'), false);
            REQUIRE(attacker.within(5, [&] { return received.done(); }));
            CHECK(received.result.status == UCS_OK);
            CHECK(out == std::vector<char>(bytes, 'c'));
        }
        id = attacker.new_id();
        return over && out == data;
    }
};

} // namespace

TEST_CASE("hostile offers to read data are declined, and nothing is read") {
    const DeviceSession session;
    Attacked a;
    {
        DirectHeader offer = a.honest();
        a.authenticate(offer);
        CHECK(a.is_taken(offer)); // the others differ from it in one thing
    }
    const auto check = [&](const char *what, auto &&change) {
        INFO(what);
        DirectHeader offer = a.honest();
        change(offer);
        a.authenticate(offer);
        CHECK_FALSE(a.is_taken(offer));
    };
    check("low", [](DirectHeader &o) { o.place.low = -1; });
    check("high", [](DirectHeader &o) { o.place.high = bytes + 1; });
    check("a longer range", [](DirectHeader &o) { o.place.high = INT64_MAX; });
    check("count", [](DirectHeader &o) { o.place.count = bytes + 1; });
    check("no count", [](DirectHeader &o) { o.place.count = 0; });
    check("a huge count", [](DirectHeader &o) { o.place.count = UINT64_MAX; });
    check("no memory", [](DirectHeader &o) { o.place.base = 0; });
    check("an address that wraps around", [](DirectHeader &o) { o.place.base = UINT64_MAX - 100; });
    check("the kernel's memory", [](DirectHeader &o) { o.place.base = uint64_t{1} << 63; });
    check("memory that does not exist", [](DirectHeader &o) { o.place.base = 4096; });
    check("a type that is not known", [](DirectHeader &o) { o.place.type[0] ^= 1; });
    check("device memory", [](DirectHeader &o) { o.place.memory = DirectPlace::Memory::ipc; });
    check("another kind of memory",
          [](DirectHeader &o) { o.place.memory = static_cast<DirectPlace::Memory>(77); });
    check("a number of before", [](DirectHeader &o) { o.place.number = 1; });

    DirectHeader offer = a.honest();
    a.authenticate(offer);
    for (std::size_t i = 0; i < sizeof offer; i += 7) {
        const std::size_t in_header = offsetof(ucd_ucx::Header, id);
        if (i < in_header + sizeof offer.header.id + 8) continue; // another transfer's
        if (i >= offsetof(ucd_ucx::Header, user_header) && i < sizeof offer.header) continue;
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
        a.set(once.header, Kind::direct, sizeof once.place); // of another transfer
        CHECK_FALSE(a.is_taken(once));
    }
    check_usable(a.pair);
}

TEST_CASE("an offer without a link is declined") {
    const DeviceSession session;
    Attacked a;
    DirectHeader offer = a.honest();
    a.authenticate(offer);
    a.links.close(a.attacker.side.ep);
    a.attacker.progress(500);
    CHECK_FALSE(a.is_taken(offer));
    check_usable(a.pair);
}

TEST_CASE("bytes that are no types are not remembered, and cost little") {
    const DeviceSession session;
    Attacked a;
    run_cases("ucx direct types", 200, [&](Case &one) {
        std::string text = a.type;
        text.resize(one.rng().below(2000), 'x');
        for (std::size_t i = one.rng().below(4); i > 0 && !text.empty(); --i)
            text[one.rng().below(text.size())] ^= static_cast<char>(1 + one.rng().below(255));
        a.send_type(text);
    });
    DirectHeader offer = a.honest();
    a.authenticate(offer);
    CHECK(a.is_taken(offer));
    check_usable(a.pair);
}

TEST_CASE("messages about direct transfers in any order do no harm") {
    const DeviceSession session;
    Attacked a;
    run_cases("ucx direct messages", 300, [&](Case &one) {
        Rng &rng = one.rng();
        DirectHeader offer = a.honest();
        offer.header.kind = static_cast<Kind>(24 + rng.below(4));
        offer.header.total = rng.chance(50) ? bytes : rng.bits();
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
