// Messages that say something where this version of the protocol says nothing: a later version may
// mean it, so they are refused.

#include "support/catch.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/type_name.hpp"

#include <functional>

namespace attacks_unused_test {

using namespace ucdtest;

namespace {

constexpr std::size_t bytes = 100;

using Change = std::function<void(wire::Message &)>;
struct Named {
    const char *name;
    Change change;
};
const Named detail = {"detail", [](wire::Message &m) { m.status = 1; }},
            offset = {"offset", [](wire::Message &m) { m.offset = 1; }},
            user_id = {"the user's id", [](wire::Message &m) { m.user_id = 1; }},
            header = {"a header", [](wire::Message &m) { m.user_header = "h"; }};

struct Victim {
    PipelineSide side;
    Attacker attacker{side.address(), [this] { ucd_ucx_progress(side.pipeline); }};
    Told told{side, true};

    Victim() { side.connect(attacker.side.address()); }
    ~Victim() { side.close_endpoint(); }
    Victim(const Victim &) = delete;
    Victim &operator=(const Victim &) = delete;

    // How a receive ends that gets these messages, of which those of one kind are changed.
    ucs_status_t receive(const std::vector<wire::Kind> &kinds, wire::Kind changed,
                         const Change &change, const std::string &more = {}) {
        std::string out(bytes, 'o');
        Outcome received;
        start_receive(side, {out.data(), bytes, UCD_TYPE__BYTE}, received);
        wire::Message m;
        m.id = attacker.new_id();
        m.total = bytes;
        for (const wire::Kind kind : kinds) {
            wire::Message one = m;
            one.kind = kind;
            if (kind == wire::withdraw) one.status = -UCS_ERR_CANCELED;
            if (kind == wire::route) one.status = wire::route_status(wire::host_route, 1);
            if (kind == changed) change(one);
            std::string data(kind == wire::chunk ? bytes : 0, 'd');
            if (kind == wire::route) data.assign(8, '\0');
            if (kind == changed && !more.empty()) data = more;
            if (kind == wire::opening)
                attacker.tagged(one);
            else if (kind == wire::whole)
                attacker.tagged(one.text() + std::string(bytes, 'd'));
            else if (kind == wire::route)
                attacker.active_by_rendezvous(one, data);
            else
                attacker.active(one, data);
            attacker.progress(5);
        }
        REQUIRE(attacker.within(10, [&] { return received.done(); }));
        if (received.result.status == UCS_OK) CHECK(out == std::string(bytes, 'd'));
        return received.result.status;
    }
};

const Change nothing = [](wire::Message &) {};

} // namespace

TEST_CASE("a tagged transfer with numbers that have no meaning is refused") {
    Victim victim;
    const std::vector<wire::Kind> in_chunks = {wire::offer, wire::opening, wire::route,
                                               wire::chunk};
    const std::vector<wire::Kind> taken_back = {wire::offer, wire::opening, wire::withdraw};
    const struct {
        std::vector<wire::Kind> kinds;
        wire::Kind kind;
        std::vector<Named> changes;
        ucs_status_t without;
    } attacks[] = {
        {{wire::whole}, wire::whole, {detail, offset, user_id, header}, UCS_OK},
        {in_chunks, wire::offer, {detail, offset, user_id, header}, UCS_OK},
        {in_chunks, wire::opening, {detail, offset, user_id, header}, UCS_OK},
        {in_chunks, wire::route, {offset, header}, UCS_OK},
        {in_chunks, wire::chunk, {detail, header}, UCS_OK},
        {taken_back, wire::withdraw, {offset, header}, UCS_ERR_CANCELED},
    };
    for (const auto &attack : attacks) {
        INFO("kind " << attack.kind);
        CHECK(victim.receive(attack.kinds, attack.kind, nothing) == attack.without);
        for (const Named &named : attack.changes) {
            INFO(named.name);
            CHECK(victim.receive(attack.kinds, attack.kind, named.change) == UCS_ERR_INVALID_PARAM);
        }
    }
    INFO("data of a withdrawal");
    CHECK(victim.receive(taken_back, wire::withdraw, nothing, "d") == UCS_ERR_INVALID_PARAM);
    INFO("a receipt of an offer");
    CHECK(victim.receive(in_chunks, wire::route, nothing, std::string(8, 'r')) ==
          UCS_ERR_CONNECTION_RESET);
    CHECK(victim.receive(in_chunks, wire::chunk, nothing) == UCS_OK);
}

TEST_CASE("a user's message with numbers that have no meaning is not delivered") {
    Victim victim;
    for (const wire::Kind kind : {wire::whole, wire::user_offer}) {
        const auto is_delivered = [&](const Change &change) {
            wire::Message m;
            m.kind = kind;
            m.id = victim.attacker.new_id();
            m.total = bytes;
            m.user_id = 5;
            m.user_header = "header";
            change(m);
            const int before = victim.told.times;
            victim.attacker.active(m, std::string(kind == wire::whole ? bytes : 0, 'd'));
            victim.attacker.progress(20);
            return victim.told.times > before;
        };
        CHECK(is_delivered(nothing));
        for (const Named &named : {detail, offset}) {
            INFO("kind " << kind << ", " << named.name);
            CHECK_FALSE(is_delivered(named.change));
        }
    }
}

TEST_CASE("a one-sided message whose data is a transfer has nothing else behind it") {
    const auto transfer = [](Attacker &from, const std::string &header, const std::string &data) {
        wire::Message m;
        m.kind = wire::whole;
        m.id = from.new_id();
        m.total = data.size();
        m.user_header = header;
        from.active(m, data);
    };
    for (const std::string more : {"", "x"}) {
        INFO("behind it: " << more.size());
        const unsigned expected = more.empty() ? wire::done : wire::invalid;
        HandOrigin o;
        ++o.request.number;
        transfer(o.hand, o.request.text() + more, o.data);
        CHECK(o.hand.next_said().first == expected);
        CHECK(o.is_untouched() == !more.empty());
        // A type.
        const std::string type = flattened(UCD_TYPE__SHORT);
        ++o.request.number;
        o.request.by_name = true;
        o.request.type = name_of(type);
        o.request.count = 25;
        o.hand.request(o.request, o.data);
        REQUIRE(o.hand.next_said().verb == wire::need_type);
        transfer(o.hand, wire::preamble(wire::type_message, o.request.number) + more, type);
        CHECK(o.hand.next_said().first == expected);
        CHECK(o.is_untouched() == !more.empty());
        // An answer.
        HandTarget target;
        const ucd_ucx_window_key_t key = made_up_key();
        RmaTestOperation get(10);
        ok(get.start(What::get, target.a, &key, 0), "get");
        const wire::Said said = target.hand.next_said();
        transfer(target.hand, wire::preamble(wire::answer, said.number) + more,
                 std::string(10 * sizeof(int), 'd'));
        REQUIRE(target.hand.within(5, [&] { return get.done(); }));
        CHECK(get.status() == (more.empty() ? UCS_OK : UCS_ERR_INVALID_PARAM));
    }
}

} // namespace attacks_unused_test
