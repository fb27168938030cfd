// What a peer's messages make this process keep: in proportion to what the peer sends, and no
// longer than the peer is there.

#include "c_api/allocations.hpp"
#include "support/catch.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_pair.hpp"

#include <deque>
#include <fstream>
#include <random>
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

std::string flattened_and_freed(ucd_type_t type) {
    std::uintptr_t size;
    ok(ucd_flatten_size(type, &size), "ucd_flatten_size");
    std::string bytes(size, '\0');
    ok(ucd_flatten(type, bytes.data(), size), "ucd_flatten");
    ok(ucd_free(&type), "ucd_free");
    return bytes;
}

constexpr int entries = 800;

// A list of `entries` places for one of two vectors of 64 elements, chosen at random: some bytes
// for each place, and 64 segments if they are written out. No two seeds give the same.
std::string short_description(unsigned seed) {
    std::mt19937 random(seed);
    ucd_type_t vectors[2];
    ok(ucd_create_hvector(64, 1, 3, UCD_TYPE__CHAR, UCD_INFO__NULL, &vectors[0]), "hvector");
    ok(ucd_create_hvector(64, 1, 2, UCD_TYPE__CHAR, UCD_INFO__NULL, &vectors[1]), "hvector");
    std::vector<std::intptr_t> lengths(entries, 1), displacements;
    std::vector<ucd_type_t> types;
    std::intptr_t at = 0;
    for (int i = 0; i < entries; ++i) {
        types.push_back(vectors[random() % 2]);
        displacements.push_back(at += 200 + static_cast<std::intptr_t>(random() % 50));
    }
    ucd_type_t type;
    ok(ucd_create_struct(entries, lengths.data(), displacements.data(), types.data(),
                         UCD_INFO__NULL, &type),
       "ucd_create_struct");
    for (ucd_type_t &t : vectors) ok(ucd_free(&t), "ucd_free");
    return flattened_and_freed(type);
}

} // namespace

TEST_CASE("small hostile types take no more than their allowance at a target") {
    RmaSide target(UCD_INFO__NULL, UCS_THREAD_MODE_SINGLE);
    std::vector<char> memory(1000, 'm');
    const Window window(target, memory.data(), memory.size());
    Attacker attacker(target.side.address(), [&] { target.progress(); });
    target.side.connect(attacker.side.address());
    const auto types = static_cast<unsigned>(messages(200));
    std::vector<std::string> flat;
    std::size_t bytes_sent = 0;
    for (unsigned i = 0; i < types; ++i) flat.push_back(short_description(i));
    const auto get = [&](unsigned i) {
        wire::Request request;
        request.verb = wire::get;
        request.number = i + 1;
        request.window = wire::window_name(*window.key());
        request.type = flat[i];
        request.index = i % 4096;
        bytes_sent += request.text().size();
        attacker.request(request);
        const wire::Said said = attacker.next_said();
        return said.is_answer() ? said.first : 1000u;
    };
    CHECK(get(0) == wire::out_of_range); // and what is kept for good has come
    attacker.received.clear();
    const std::size_t before = heap_bytes();
    std::size_t most = 0;
    const double seconds = cpu_seconds_of([&] {
        for (unsigned i = 1; i < types; ++i) {
            CHECK(get(i) == wire::out_of_range);
            attacker.received.clear();
            most = std::max(most, growth_since(before));
        }
    });
    WARN(types << " types, " << bytes_sent << " bytes sent: at most " << most << " bytes kept, "
               << seconds << " s");
    CHECK(most <= types * 64 * KiB + 16 * bytes_sent + 1024 * KiB);
    target.lose_endpoint();
    attacker.progress(20);
    target.close_endpoint();
}

namespace {

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
    PipelineSide victim;
    Keeper keeper(victim);
    Attacker attacker(victim.address(), [&] { ucd_ucx_progress(victim.pipeline); });
    victim.connect(attacker.side.address());
    const auto send = [&](wire::Kind kind, int times) {
        for (int i = 0; i < times; ++i) {
            wire::Message m;
            m.kind = kind;
            m.id = attacker.new_id();
            m.total = kind == wire::whole ? 1 : 1000000;
            m.user_id = kind == wire::whole || kind == wire::user_offer;
            attacker.active(m, std::string(kind == wire::chunk || kind == wire::whole, 'c'));
            attacker.progress();
        }
        attacker.progress(20);
    };
    const auto lose = [&] {
        victim.lose_endpoint(keeper.reply_ep);
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
    victim.close_endpoint();
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
            wire::Message m;
            m.kind = wire::whole;
            m.id = attacker.new_id();
            m.total = bytes;
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
    PipelineSide victim;
    Attacker attacker(victim.address(), [&] { ucd_ucx_progress(victim.pipeline); });
    victim.connect(attacker.side.address());
    char small[8];
    const auto open = [&](int times) {
        for (int i = 0; i < times; ++i) {
            Outcome received;
            start_receive(victim, {small, sizeof small, UCD_TYPE__BYTE}, received);
            wire::Message m;
            m.kind = wire::opening;
            m.id = attacker.new_id();
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
    victim.close_endpoint();
}

TEST_CASE("as many operations of an endpoint wait as its limit says, and not one more") {
    const Keys keys({{"ucd.ucx.rma.peer_operations", "5"}});
    RmaSide target(keys.get(), UCS_THREAD_MODE_SINGLE);
    std::vector<char> memory(1000, 'm');
    const Window window(target, memory.data(), memory.size());
    Attacker attacker(target.side.address(), [&] { target.progress(); });
    target.side.connect(attacker.side.address());
    wire::Request request;
    request.window = wire::window_name(*window.key());
    request.count = 1;
    request.by_name = true; // of types that the target does not know, and waits for
    for (unsigned i = 1; i <= 7; ++i) {
        request.number = request.index = i;
        request.type.clear();
        wire::put_number(request.type, i, 8);
        wire::put_number(request.type, 1, 8);
        attacker.request(request, "d");
    }
    int waiting = 0, refused = 0;
    for (int i = 0; i < 1000 && waiting + refused < 7; ++i) {
        attacker.progress(1);
        while (attacker.has_said()) {
            const wire::Said said = attacker.next_said();
            waiting += said.verb == wire::need_type;
            refused += said.is_answer() && said.first == wire::no_memory;
        }
    }
    CHECK(waiting == 5);
    CHECK(refused == 2);
    target.close_endpoint();
}

} // namespace attacks_memory_test
