// What a pipeline's peer makes this process keep and do: in proportion to what the peer sends, and
// no longer than the peer is there.

#include "c_api/allocations.hpp"
#include "support/catch.hpp"
#include "ucx/attacker.hpp"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace attacks_memory_test {

using namespace ucdtest;

namespace {

constexpr std::size_t KiB = 1024;

// How many bytes there are more than there were.
std::size_t growth_since(std::size_t before) {
    const std::size_t now = heap_bytes();
    return now > before ? now - before : 0;
}

// Offers of transfers that nothing follows; the attacker waits for some progress after each 8.
template <class IdOf>
void offer(PipelineVictim &victim, int offers, IdOf &&id_of) {
    for (int i = 0; i < offers; ++i) {
        wire::Message m;
        m.kind = wire::offer;
        m.id = id_of(static_cast<std::uint64_t>(i));
        m.total = 1000;
        victim.attacker.active(m);
        if (i % 8 == 0) victim.attacker.progress();
    }
    victim.attacker.progress(50);
}

// Keeps what it is told of, as a user may who receives it later.
struct Keeper {
    explicit Keeper(Side &of) : side(of) {
        ok(ucd_ucx_am_set_handler(
               side.pipeline,
               [](void *arg, unsigned, const void *, size_t, ucd_ucx_data_t data, uint64_t,
                  ucp_ep_h ep) {
                   static_cast<Keeper *>(arg)->reply_ep = ep;
                   static_cast<Keeper *>(arg)->kept.push_back(data);
               },
               this),
           "ucd_ucx_am_set_handler");
    }
    void drop() {
        for (ucd_ucx_data_t data : kept) ok(ucd_ucx_am_drop(side.pipeline, data), "drop");
        kept = {};
    }
    Side &side;
    ucp_ep_h reply_ep = nullptr;
    std::deque<ucd_ucx_data_t> kept;
};

} // namespace

TEST_CASE("messages that nobody receives end with their endpoint") {
    PipelineVictim victim;
    Attacker &attacker = victim.attacker;
    Keeper keeper(victim.side); // in place of what drops them
    const auto send = [&](wire::Kind kind, int times) {
        for (int i = 0; i < times; ++i) {
            wire::Message m = attacker.new_message(kind, kind == wire::whole ? 1 : 1000000);
            m.user_id = kind == wire::whole || kind == wire::user_offer;
            attacker.active(m, std::string(kind == wire::chunk || kind == wire::whole, 'c'));
            attacker.progress();
        }
        attacker.progress(20);
    };
    const auto lose = [&] {
        victim.side.lose_endpoint(keeper.reply_ep);
        attacker.progress(20);
        keeper.drop();
        attacker.progress(20);
    };
    send(wire::user_offer, 1);
    REQUIRE(attacker.within(5, [&] { return keeper.reply_ep != nullptr; }));
    for (const wire::Kind kind : {wire::offer, wire::chunk, wire::user_offer, wire::whole}) {
        INFO("kind " << kind);
        const int times = messages(10000);
        send(kind, times); // what UCX keeps for good has come by then
        lose();
        const std::size_t before = heap_bytes();
        send(kind, times);
        const std::size_t most = growth_since(before);
        lose();
        const std::size_t left = growth_since(before);
        WARN("kind " << kind << ", " << times << " messages: " << most << " bytes kept, " << left
                     << " when their endpoint was lost");
        CHECK(left < 256 * KiB);
    }
}

namespace {

// Memory that processes share, as UCX's queues over shared memory are.
std::size_t shared_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, resident = 0, shared = 0;
    file >> all >> resident >> shared;
    return shared * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

TEST_CASE("data that is dropped takes no memory, whatever its length") {
    constexpr std::size_t limit = 8 << 20, length = 64 << 20;
    const Keys keys({{"ucd.ucx.peer_memory", std::to_string(limit)},
                     {"ucd.ucx.peers_memory", std::to_string(limit)},
                     {"ucd.ucx.staging", std::to_string(limit)}});
    // Where several threads may use a worker, UCX must not be asked to release such data.
    for (const ucs_thread_mode_t mode : {UCS_THREAD_MODE_SINGLE, UCS_THREAD_MODE_MULTI}) {
        INFO("thread mode " << mode);
        Side victim(mode);
        victim.open_pipeline(keys.get());
        Keeper keeper(victim);
        std::size_t before = 0, most = 0;
        Attacker attacker(victim.address(), [&] {
            ucd_ucx_progress(victim.pipeline);
            most = std::max(most, growth_since(before));
        });
        const auto drop = [&](std::size_t bytes) {
            const std::string data(bytes, 'd');
            wire::Message m = attacker.new_message(wire::whole, bytes);
            m.user_id = 1;
            attacker.active_by_rendezvous(m, data);
            REQUIRE(attacker.within(20, [&] { return !keeper.kept.empty(); }));
            before = heap_bytes();
            most = 0;
            reset_peak();
            const auto live = live_bytes();
            keeper.drop();
            REQUIRE(attacker.within(20, [&] { return attacker.unfinished() == 0; }));
            return static_cast<std::size_t>(peak_bytes() - live);
        };
        (void)drop(1000);
        for (int i = 0; i < 3; ++i) {
            const std::size_t allocated = drop(length);
            WARN("thread mode " << mode << ", " << length << " bytes dropped: " << allocated
                                << " bytes allocated, " << most << " more in the heap");
            CHECK(allocated < 64 * KiB);
            CHECK(most < limit);
        }
        // Nor does UCX keep anything of them.
        for (int i = 0; i < 500; ++i) (void)drop(1000);
        const std::size_t shared = shared_bytes();
        for (int i = 0; i < 500; ++i) (void)drop(1000);
        CHECK(shared_bytes() < shared + 1024 * KiB);
    }
}

TEST_CASE("openings that nothing follows leave little behind") {
    PipelineVictim victim;
    Attacker &attacker = victim.attacker;
    char small[8];
    const auto open = [&](int times) {
        for (int i = 0; i < times; ++i) {
            Outcome received;
            start_receive(victim.side, {small, sizeof small, UCD_TYPE__BYTE}, received);
            wire::Message m = attacker.new_message(wire::opening);
            m.total = 1000000; // longer than the receive, which ends
            attacker.tagged(m, 1);
            REQUIRE(attacker.within(5, [&] { return received.done(); }));
            CHECK(received.result.status == UCS_ERR_MESSAGE_TRUNCATED);
        }
    };
    open(2000); // as many as are kept, however few cases are asked for
    const std::size_t before = heap_bytes();
    open(messages(5000));
    CHECK(growth_since(before) < 256 * KiB);
}

TEST_CASE("a peer over its budget is barred, and no other one") {
    PipelineVictim victim({{"ucd.ucx.peer_memory", "1048576"}});
    Attacker &attacker = victim.attacker;
    Attacker honest(victim.side.address(), [&] { ucd_ucx_progress(victim.side.pipeline); });
    // One transfer of each that waits for the rest of it.
    char to[2][100] = {};
    Outcome outcomes[2];
    wire::Message waiting[2];
    Attacker *peers[] = {&attacker, &honest};
    for (int i = 0; i < 2; ++i) {
        start_receive(victim.side, {to[i], 100, UCD_TYPE__CHAR}, outcomes[i],
                      static_cast<ucp_tag_t>(i));
        waiting[i] = peers[i]->open(100, static_cast<ucp_tag_t>(i));
        peers[i]->progress(50);
    }
    const std::size_t before = heap_bytes();
    offer(victim, 20000, [&](std::uint64_t) { return attacker.new_id(); });
    CHECK(growth_since(before) < 2048 * KiB);
    CHECK(outcomes[0].done());
    CHECK(outcomes[0].result.status == UCS_ERR_EXCEEDS_LIMIT);
    CHECK_FALSE(outcomes[1].done());
    // What it says is dropped.
    wire::Message users = attacker.new_message(wire::whole);
    users.user_id = 1;
    attacker.active(users);
    attacker.progress(50);
    CHECK(victim.told.times == 0);
    waiting[1].kind = wire::chunk;
    honest.active(waiting[1], std::string(100, 'h'));
    CHECK(honest.within(5, [&] { return outcomes[1].done(); }));
    CHECK(outcomes[1].result.status == UCS_OK);
    CHECK(std::string(to[1], 100) == std::string(100, 'h'));
    // Until its endpoint is made anew.
    victim.side.lose_endpoint();
    attacker.progress(50);
    users.id = attacker.new_id();
    attacker.active(users);
    CHECK(attacker.within(5, [&] { return victim.told.times == 1; }));
}

namespace {

// CPU time of a receiver that is sent as many offers, numbered by `id_of`.
template <class IdOf>
double seconds_for_offers(int offers, IdOf &&id_of) {
    PipelineVictim victim;
    offer(victim, offers, id_of);
    return victim.seconds;
}

} // namespace

// Times are compared with those of harmless messages in the same run, generously.
TEST_CASE("offers whose names collide cost what others do") {
    const int offers = messages(16000);
    const auto plain = [](std::uint64_t i) { return wire::Id{0x123456789abcdef, i}; };
    // Multiplied and added, all of them are one number.
    const auto colliding = [](std::uint64_t i) {
        return wire::Id{i, 0x5555 - i * 0x9e3779b97f4a7c15u};
    };
    // As many bits alike as can be, from either end.
    const auto low_bits = [](std::uint64_t i) { return wire::Id{i << 40, i << 44}; };
    (void)seconds_for_offers(1000, plain);
    const double usual = seconds_for_offers(offers, plain);
    const double worst =
        std::max(seconds_for_offers(offers, colliding), seconds_for_offers(offers, low_bits));
    WARN(offers << " offers: " << usual << " s, colliding: " << worst << " s");
    CHECK(worst < 20 * usual);
}

} // namespace attacks_memory_test
