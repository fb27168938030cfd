// What a peer with a window's key makes a target keep and do stays within the peer's budget: gets
// whose answers are not taken, operations that wait with their types, types of great depth. The
// other peers are served meanwhile.

#include "ucx/measured_target.hpp"
#include "ucx/type_name.hpp"

#include <random>
#include <utility>

namespace attacks_budget_test {

using namespace ucdtest;

namespace {

constexpr std::size_t kibi = 1 << 10, mebi = 1 << 20;

// Two peers: one that takes no answers, and an honest one.
struct Spender : MeasuredTarget {
    explicit Spender(std::initializer_list<std::pair<std::string, std::string>> keys,
                     std::size_t window_bytes = 256 * kibi)
        : MeasuredTarget(2, keys, window_bytes) {
        for (int i = 0; i < 2; ++i) { // what UCX keeps for good has come
            CHECK(serves_honest());
            attacker.progress(10);
        }
    }
    bool serves_honest() { return serves(honest); }
    // What has grown is what the ledger says, but for what UCX takes; and that is within budget.
    void check_growth(std::uint64_t budget) const {
        const bool tcp = side.side.can_fail; // of which UCX takes more
        CHECK(growth() <= charged + (tcp ? 12 : 2) * mebi);
        CHECK(charged <= budget);
    }
    // What was measured, of so much work of the attacker's.
    void report(const std::string &work) const {
        WARN(work << ": at most " << growth() << " bytes kept, " << spent << " s, the longest call "
                  << longest.seconds << " s");
    }
    // The beginning of a transfer that brings so many bytes for a message.
    wire::Message begin(const std::string &message, std::uint64_t total) {
        wire::Message m = attacker.new_message(wire::user_offer, total);
        m.user_header = message;
        attacker.active(m);
        return m;
    }
    // Data in one chunk.
    void send_in_one_chunk(const wire::Request &request, const std::string &data) {
        wire::Message m = begin(request.text(), data.size());
        m.kind = wire::chunk;
        m.user_header.clear();
        attacker.active_by_rendezvous(m, data);
    }

    Attacker &attacker = attackers.front(), &honest = attackers.back();
};

// A structure within a structure, so many times; each level has one element of its own, `gap` bytes
// behind the others at the outermost one.
class Deep {
public:
    explicit Deep(int levels) : levels_(levels) {
        ok(ucd_create_dup(UCD_TYPE__CHAR, UCD_INFO__NULL, &inner_), "dup");
        for (int i = 1; i < levels; ++i) {
            ucd_type_t outer = within(inner_, 5 + 3 * i);
            std::swap(outer, inner_);
            ok(ucd_free(&outer), "free");
        }
    }
    ~Deep() { (void)ucd_free(&inner_); }
    Deep(const Deep &) = delete;
    Deep &operator=(const Deep &) = delete;
    std::string bytes(std::intptr_t gap = 0) const {
        return taken_apart(within(inner_, 5 + 3 * levels_ + gap));
    }

private:
    static ucd_type_t within(ucd_type_t type, std::intptr_t place) {
        const std::intptr_t ones[] = {1, 1}, places[] = {0, place};
        const ucd_type_t types[] = {type, UCD_TYPE__CHAR};
        return made(ucd_create_struct, 2, ones, places, types);
    }
    const int levels_;
    ucd_type_t inner_;
};

constexpr auto eight_mib = "8388608";

} // namespace

TEST_CASE("gets whose answers are not taken stay within their peer's budget") {
    const int gets[] = {messages(400), messages(1000)};
    for (int run = 0; run < 2; ++run) {
        Spender b({{"ucd.ucx.peer_memory", eight_mib}, {"ucd.ucx.rma.types", "1048576"}});
        wire::Request get = b.request(wire::get);
        get.type = taken_apart(made(ucd_create_resized, UCD_TYPE__CHAR, 0, 0));
        get.count = std::uint64_t{1} << 45;
        b.attacker.fetches = false;
        b.measure();
        std::size_t sent = 0;
        for (int i = 0; i < gets[run]; ++i) {
            get.number = static_cast<std::uint64_t>(i);
            sent += get.text().size();
            b.attacker.request(get);
        }
        b.attacker.progress(100);
        CHECK(b.serves_honest());
        b.report(std::to_string(gets[run]) + " gets, " + std::to_string(sent) + " bytes");
        b.check_growth(8 * mebi);
    }
}

namespace {

constexpr int entries = 800;

// A list of `entries` places for one of two vectors of 64 elements, chosen at random: some bytes
// for each place, and 64 segments if they are written out. No two seeds give the same.
std::string short_description(unsigned seed) {
    std::mt19937 random(seed);
    ucd_type_t vectors[] = {made(ucd_create_hvector, 64, 1, 3, UCD_TYPE__CHAR),
                            made(ucd_create_hvector, 64, 1, 2, UCD_TYPE__CHAR)};
    std::vector<std::intptr_t> lengths(entries, 1), displacements;
    std::vector<ucd_type_t> types;
    std::intptr_t at = 0;
    for (int i = 0; i < entries; ++i) {
        types.push_back(vectors[random() % 2]);
        displacements.push_back(at += 200 + static_cast<std::intptr_t>(random() % 50));
    }
    const ucd_type_t type =
        made(ucd_create_struct, entries, lengths.data(), displacements.data(), types.data());
    for (ucd_type_t &t : vectors) ok(ucd_free(&t), "ucd_free");
    return taken_apart(type);
}

} // namespace

TEST_CASE("small hostile types take no more than their allowance at a target") {
    const auto types = static_cast<unsigned>(messages(200));
    std::vector<std::string> flat;
    for (unsigned i = 0; i < types; ++i) flat.push_back(short_description(i));
    Spender b({}, 1000);
    wire::Request get = b.request(wire::get);
    std::size_t sent = 0;
    for (unsigned i = 0; i < types; ++i) {
        get.number = i + 1;
        get.type = flat[i];
        get.index = i % 4096;
        sent += get.text().size();
        b.attacker.request(get);
        const wire::Said said = b.attacker.next_said();
        CHECK((said.is_answer() && said.first == wire::out_of_range));
        b.attacker.received.clear();
        if (i == 0) b.measure(); // what is kept for good has come
    }
    b.report(std::to_string(types) + " types, " + std::to_string(sent) + " bytes sent");
    CHECK(b.growth() <= types * 64 * kibi + 16 * sent + 1024 * kibi);
}

TEST_CASE("types of operations that wait stay within their peer's budget") {
    Spender b({{"ucd.ucx.peer_memory", eight_mib}, {"ucd.ucx.rma.types", "1048576"}});
    // An accumulate that has begun and does not end.
    wire::Request large = b.request(wire::accumulate);
    large.number = 1;
    large.type = flattened(UCD_TYPE__CHAR);
    large.count = 128 * kibi;
    (void)b.begin(large.text(), large.count);
    b.attacker.progress(10);
    b.measure();
    const int operations = messages(1900);
    const Deep type(1000);
    int refused = 0;
    for (int i = 0; i < operations; ++i) {
        wire::Request r = b.request(wire::accumulate);
        r.number = static_cast<std::uint64_t>(i) + 2;
        r.type = type.bytes(i);
        r.index = static_cast<unsigned>(i) % 4096;
        b.attacker.request(r, std::string(1001, 'a'));
        for (; b.attacker.has_said(); b.attacker.received.clear())
            refused += b.attacker.next_said().first == wire::no_memory;
    }
    b.attacker.progress(100);
    CHECK(b.serves_honest());
    for (; b.attacker.has_said();) refused += b.attacker.next_said().first == wire::no_memory;
    b.report(std::to_string(operations) + " accumulates behind one that does not end, " +
             std::to_string(refused) + " refused");
    b.check_growth(8 * mebi + 1 * mebi); // and what is remembered for all
    b.side.lose_endpoint();
    b.attacker.progress(50);
}

TEST_CASE("what a barred peer has asked for is dropped") {
    Spender b({{"ucd.ucx.peer_memory", "1048576"}});
    const ucd_ucx::Ledger &ledger = b.ledger();
    constexpr std::uint64_t operations = 50;
    for (std::uint64_t i = 1; i <= operations; ++i) { // they wait for a type
        wire::Request r = b.request();
        r.number = i;
        r.by_name = true;
        r.type = std::string(16, 'n');
        b.attacker.request(r, "x");
    }
    b.attacker.progress(50);
    CHECK(ledger.bytes() > operations * 500);
    for (int i = 0; ledger.barred() == 0 && i < 20000; ++i) {
        wire::Message m = b.attacker.new_message(wire::offer, 1000);
        b.attacker.active(m);
        b.attacker.progress();
    }
    CHECK(ledger.barred() == 1);
    b.attacker.progress(50);
    CHECK(ledger.bytes() < operations * 500);
    CHECK(b.serves_honest());
}

TEST_CASE("a type over its peer's budget is refused before it is built") {
    // Over the budget, whatever part of the cases runs.
    const std::string type = Deep(200'000).bytes();
    Spender b({}, 4 * mebi);
    // What the target is told of it is its name; then it is asked for.
    wire::Request r = b.request(wire::get);
    r.by_name = true;
    r.type = std::string(16, 'n');
    b.measure();
    for (int i = 0; i < 3; ++i) {
        r.number = static_cast<std::uint64_t>(i) + 1;
        b.attacker.request(r);
        wire::Said said = b.attacker.next_said();
        REQUIRE(said.verb == wire::need_type);
        (void)b.begin(wire::preamble(wire::type_message, r.number), type.size());
        b.attacker.progress(20);
        REQUIRE(b.attacker.has_said());
        CHECK(b.attacker.next_said().first == wire::no_memory);
    }
    CHECK(b.serves_honest());
    b.report("3 times a type of " + std::to_string(type.size()) + " bytes");
    b.check_growth(1 * mebi);
}

namespace {

// Bytes with gaps of one byte.
std::string chars_apart(std::size_t count) {
    return taken_apart(
        made(ucd_create_vector, static_cast<std::intptr_t>(count), 1, 2, UCD_TYPE__CHAR));
}

} // namespace

TEST_CASE("what takes long is divided among calls of progress, and others go on meanwhile") {
    constexpr std::size_t count = mebi;
    constexpr auto least_calls = static_cast<int>(count / ucd_ucx::Ledger::steps_of_call);
    Spender b({}, 2 * count + 8);
    wire::Request r = b.request();
    r.type = chars_apart(count);
    const std::string data(count, 'd');
    // How many calls of progress there are from the first byte that is written to the answer.
    const auto calls = [&](auto &&start) {
        std::fill(b.memory.begin(), b.memory.end(), 'm');
        ++r.number;
        start();
        int n = 0;
        for (bool served = false; !b.attacker.has_said() && n < 10000;) {
            b.attacker.progress(1); // has_said makes progress, too
            n += 2;
            if (served || b.memory[0] == 'm') continue;
            served = true;
            CHECK(b.serves_honest());
            CHECK(std::count(b.memory.begin(), b.memory.end(), 'd') < static_cast<long>(count));
        }
        const wire::Said said = b.attacker.next_said();
        CHECK((said.number == r.number && said.first == wire::done));
        CHECK(std::count(b.memory.begin(), b.memory.end(), 'd') ==
              (r.verb == wire::get_accumulate ? 0 : static_cast<long>(count)));
        return n;
    };
    for (const unsigned verb : {wire::put, wire::accumulate}) {
        INFO("verb " << verb);
        r.verb = verb;
        CHECK(calls([&] { b.attacker.request(r, data); }) >= least_calls / 2);
        CHECK(calls([&] { b.send_in_one_chunk(r, data); }) >= least_calls);
    }
    r.verb = wire::get_accumulate;
    r.op = 255;
    CHECK(calls([&] { b.attacker.request(r); }) >= least_calls);
}

TEST_CASE("a type that is too long to be remembered for all is built once") {
    Spender b({{"ucd.ucx.rma.types", "65536"}});
    wire::Request r = b.request(wire::get);
    const Deep type(2000);
    r.type = type.bytes();
    b.attacker.request(r);
    CHECK(b.attacker.next_said().first == wire::done);
    const std::uint64_t charged = b.ledger().bytes();
    CHECK(charged > 64 * r.type.size());
    // By its index and by its name: it is not asked for.
    const auto said = [&](bool known, const std::string &sent) {
        ++r.number;
        r.is_known = known;
        r.by_name = sent.size() == 16;
        r.type = sent;
        b.attacker.request(r);
        return b.attacker.next_said();
    };
    CHECK(said(true, "").is_answer());
    CHECK(said(false, name_of(type.bytes())).is_answer());
    CHECK(b.ledger().bytes() == charged);
    // Until there is another one.
    CHECK(said(false, type.bytes(1)).is_answer());
    CHECK(said(false, name_of(type.bytes())).verb == wire::need_type);
}

TEST_CASE("a chunk that a peer sends is refused if there never is a budget for it") {
    Spender b({{"ucd.ucx.peer_memory", "1048576"}}, 4 * mebi);
    wire::Request r = b.request();
    const auto put = [&](std::size_t bytes) {
        r.type = chars_apart(bytes);
        ++r.number;
        b.send_in_one_chunk(r, std::string(bytes, 'd'));
        return b.attacker.next_said().first;
    };
    b.measure();
    CHECK(put(500 * kibi) == wire::done);
    CHECK(put(513 * kibi) == wire::no_memory);
    b.check_growth(1 * mebi + b.ledger().remembered_limit());
    CHECK(put(100) == wire::done);
}

TEST_CASE("an accumulate for which there is no room steps aside, and is done later") {
    Spender b({{"ucd.ucx.peer_memory", "1048576"}});
    wire::Request r = b.request(wire::get_accumulate);
    r.op = 255; // it only reads
    r.type = flattened(UCD_TYPE__CHAR);
    r.count = 150 * kibi; // two of them have no room together
    b.attacker.fetches = false;
    for (int i = 0; i < 2; ++i) {
        ++r.number;
        b.attacker.request(r);
        b.attacker.progress(20);
    }
    CHECK(b.attacker.next_said().number == 2);
    b.attacker.progress(20);
    CHECK_FALSE(b.attacker.has_said());
    wire::Request other = b.request(wire::accumulate);
    other.number = ++b.served;
    other.type = flattened(UCD_TYPE__CHAR);
    b.honest.request(other, "h");
    CHECK(b.honest.next_said().first == wire::done);
    CHECK(b.memory[0] == 'h');
    REQUIRE(b.attacker.within(5, [&] {
        b.attacker.release_data();
        return b.attacker.has_said();
    }));
    CHECK(b.attacker.next_said().number == 3);
}

} // namespace attacks_budget_test
