// What a peer's messages make this process work: in proportion to how many there are, whatever
// they say. Times are compared with those of harmless messages in the same run, generously.

#include "support/catch.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_pair.hpp"

namespace attacks_time_test {

using namespace ucdtest;

namespace {

// CPU time of a receiver that is sent as many offers, numbered by `id_of`.
template <class IdOf>
double seconds_for_offers(int offers, IdOf &&id_of) {
    PipelineSide victim;
    double seconds = 0;
    Attacker attacker(victim.address(), [&] {
        seconds += cpu_seconds_of([&] { ucd_ucx_progress(victim.pipeline); });
    });
    victim.connect(attacker.side.address());
    for (int i = 0; i < offers; ++i) {
        wire::Message m;
        m.kind = wire::offer;
        m.id = id_of(static_cast<std::uint64_t>(i));
        m.total = 1000;
        attacker.active(m);
        if (i % 8 == 0) attacker.progress();
    }
    attacker.progress(20);
    victim.close_endpoint();
    return seconds;
}

} // namespace

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

TEST_CASE("operations that wait for a type cost idle progress nothing") {
    const Keys keys({{"ucd.ucx.rma.peer_operations", "15000"}});
    RmaSide target(keys.get(), UCS_THREAD_MODE_SINGLE);
    std::vector<char> memory(1000, 'm');
    const Window window(target, memory.data(), memory.size());
    Attacker attacker(target.side.address(), [&] { target.progress(); });
    target.side.connect(attacker.side.address());
    const auto idle = [&] {
        attacker.progress(50);
        return cpu_seconds_of([&] {
            for (int i = 0; i < 300; ++i) target.progress();
        });
    };
    wire::Request request;
    request.window = wire::window_name(*window.key());
    request.count = 1;
    request.by_name = true;
    const auto park = [&](int times) {
        for (int i = 0; i < times; ++i) {
            ++request.number;
            request.index = static_cast<unsigned>(request.number % 4096);
            request.type.clear();
            wire::put_number(request.type, request.number, 8);
            wire::put_number(request.type, 1, 8);
            attacker.request(request, "d");
            attacker.received.clear();
        }
    };
    park(10);
    (void)idle();
    const double few = idle();
    const int operations = messages(20000);
    const std::size_t before = heap_bytes();
    park(operations);
    attacker.progress(50);
    int waiting = 0, refused = 0;
    while (attacker.has_said()) {
        const wire::Said said = attacker.next_said();
        waiting += said.verb == wire::need_type;
        refused += said.is_answer() && said.first == wire::no_memory;
    }
    const double many = idle();
    const std::size_t kept = heap_bytes() - before;
    WARN("300 idle calls: " << few << " s; with " << waiting << " operations waiting, " << refused
                            << " refused: " << many << " s; " << kept << " bytes kept");
    CHECK(many < 20 * few + 0.0005);
    // There is a limit to how many wait.
    CHECK(waiting <= 15000);
    CHECK(waiting + refused >= operations);
    target.close_endpoint();
}

} // namespace attacks_time_test
