// Requests of a peer that has a window's key and means no good: with what was granted to another
// endpoint, with more or less data than they say, more of them than may wait, with elements that
// overlap. What they are refused for is written nowhere.

#include "ucx/rma_by_hand.hpp"

#include <numeric>

namespace attacks_grants_test {

using namespace ucdtest;

// Grants: what one endpoint was granted means nothing on another -----------

TEST_CASE("handles and indexes are those of the endpoint that was given them") {
    HandOrigin origin;
    Attacker other(origin.b.side.address(), [&] { origin.b.progress(); });
    wire::Request first = origin.request;
    first.count = 1;
    origin.hand.request(first, "a");
    const wire::Said granted = origin.hand.next_said();
    REQUIRE(granted.first == wire::done);
    REQUIRE(granted.verb == wire::answer_with_handle);
    origin.memory[100] = 'm';
    wire::Request later = first;
    later.shows_key = false;
    later.handle = granted.window_handle();
    later.is_known = true;
    later.type.clear();
    const auto verdict = [&](Attacker &attacker, wire::Request request) {
        request.number = ++first.number;
        attacker.request(request, "b");
        const wire::Said said = attacker.next_said();
        CHECK(said.number == request.number);
        return said.first;
    };
    // An index is worth nothing without the bytes that it stands for.
    const auto is_asked_for_type = [&](Attacker &attacker, wire::Request request) {
        request.number = ++first.number;
        attacker.request(request, "b");
        const wire::Said question = attacker.next_said();
        attacker.say(wire::preamble(wire::type_message, request.number), "no type");
        const wire::Said said = attacker.next_said();
        CHECK((question.number == request.number && said.number == request.number));
        return question.verb == wire::need_type && said.is_answer() && said.first == wire::invalid;
    };
    // The other shows neither the key nor the type.
    CHECK(verdict(other, later) == wire::no_window);
    // With a key of its own, but a type that it has not said.
    wire::Request with_key = later;
    with_key.shows_key = true;
    CHECK(is_asked_for_type(other, with_key));
    CHECK(origin.is_untouched());
    // Guesses.
    for (const std::uint64_t guess :
         {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX, later.handle ^ 1, later.handle ^ 1u << 16,
          later.handle + 1, later.handle & 0xffff}) {
        wire::Request guessed = later;
        guessed.handle = guess;
        CHECK(verdict(origin.hand, guessed) == wire::no_window);
    }
    for (const unsigned index : {1u, 4095u, 4096u, UINT32_MAX}) {
        wire::Request guessed = later;
        guessed.index = index;
        if (index < 4096)
            CHECK(is_asked_for_type(origin.hand, guessed));
        else
            CHECK(verdict(origin.hand, guessed) == wire::invalid);
    }
    CHECK(origin.is_untouched());
    CHECK(verdict(origin.hand, later) == wire::done);
    CHECK(origin.memory[100] == 'b');
    // Handles end with their window.
    origin.window.reset();
    CHECK(verdict(origin.hand, later) == wire::no_window);
    origin.window.emplace(origin.b, origin.memory.data(), origin.memory.size());
    CHECK(verdict(origin.hand, later) == wire::no_window);
}

TEST_CASE("handles and indexes end with their endpoint") {
    HandOrigin origin;
    CHECK(origin.verdict() == wire::done);
    wire::Request &request = origin.request;
    ++request.number;
    origin.hand.request(request, origin.data);
    const wire::Said granted = origin.hand.next_said();
    REQUIRE(granted.verb == wire::answer_with_handle);
    origin.b.lose_endpoint();
    origin.hand.progress(20);
    std::fill(origin.memory.begin(), origin.memory.end(), 'm');
    request.shows_key = false;
    request.handle = granted.window_handle();
    CHECK(origin.verdict() == wire::no_window);
    request.shows_key = true;
    request.is_known = true;
    request.type.clear();
    ++request.number;
    origin.hand.request(request, origin.data);
    CHECK(origin.hand.next_said().verb == wire::need_type);
    CHECK(origin.is_untouched());
}

TEST_CASE("as many operations of an endpoint wait as its limit says, and not one more") {
    HandOrigin origin({{"ucd.ucx.rma.peer_operations", "5"}});
    wire::Request &request = origin.request;
    request.by_name = true; // of types that the target does not know, and waits for
    for (request.number = 1; request.number <= 7; ++request.number) {
        request.index = static_cast<unsigned>(request.number);
        request.type = made_up_name(request.number);
        origin.hand.request(request, origin.data);
    }
    int waiting = 0, refused = 0;
    for (int i = 0; i < 1000 && waiting + refused < 7; ++i) {
        origin.hand.progress(1);
        while (origin.hand.has_said()) {
            const wire::Said said = origin.hand.next_said();
            waiting += said.verb == wire::need_type;
            refused += said.is_answer() && said.first == wire::no_memory;
        }
    }
    CHECK(waiting == 5);
    CHECK(refused == 2);
}

// Lengths -----------------------------------------------------------------

TEST_CASE("a put whose bytes did not come writes nothing of the target's own memory") {
    HandOrigin origin({}, claimed);
    origin.request.count = claimed;
    for (const auto &first : firsts) {
        INFO(first.name);
        disagree(origin.hand, first, origin.request.text(), 0);
        CHECK(origin.is_untouched(brought));
        std::fill(origin.memory.begin(), origin.memory.end(), 'm');
    }
    // Of one message whose data is short.
    origin.hand.progress(50);
    while (origin.hand.has_said()) (void)origin.hand.next_said();
    for (const std::size_t short_by : {std::size_t{1}, claimed - brought, claimed}) {
        origin.data.assign(claimed - short_by, 's');
        CHECK(origin.verdict() == wire::invalid);
        CHECK(origin.is_untouched());
    }
}

// Overlap: the target finds every one, and refuses nothing else -------------

namespace {

using List = std::vector<std::intptr_t>;

// Types of ints, made of each other; all are freed with it.
class Types {
public:
    ~Types() {
        for (ucd_type_t &t : made_) (void)ucd_free(&t);
    }
    ucd_type_t list(const List &displacements, ucd_type_t of = UCD_TYPE__INT) {
        const auto count = static_cast<std::intptr_t>(displacements.size());
        return keep(made(ucd_create_hindexed_block, count, 1, displacements.data(), of));
    }
    ucd_type_t blocks(const List &lengths, const List &displacements) {
        const auto count = static_cast<std::intptr_t>(lengths.size());
        return keep(
            made(ucd_create_hindexed, count, lengths.data(), displacements.data(), UCD_TYPE__INT));
    }
    ucd_type_t vector(std::intptr_t count, std::intptr_t length, std::intptr_t stride,
                      ucd_type_t of = UCD_TYPE__INT) {
        return keep(made(ucd_create_hvector, count, length, stride, of));
    }
    ucd_type_t fields(const List &displacements, const std::vector<ucd_type_t> &types) {
        const List ones(types.size(), 1);
        return keep(made(ucd_create_struct, static_cast<std::intptr_t>(types.size()), ones.data(),
                         displacements.data(), types.data()));
    }
    ucd_type_t resized(std::intptr_t extent, ucd_type_t of = UCD_TYPE__INT) {
        return keep(made(ucd_create_resized, of, 0, extent));
    }

private:
    ucd_type_t keep(ucd_type_t type) {
        made_.push_back(type);
        return type;
    }
    std::vector<ucd_type_t> made_;
};

struct Layout {
    const char *name;
    ucd_type_t type;
    std::uintptr_t count = 1;

    std::size_t ints() const {
        std::uintptr_t size;
        ok(ucd_get_size(type, &size), "size");
        return size * count / sizeof(int);
    }
};

List many_and_the_first_again() {
    List displacements;
    for (std::intptr_t i = 0; i < 400; ++i) displacements.push_back(4 * i + i % 3 * 4000);
    displacements.push_back(0);
    return displacements;
}

std::vector<Layout> overlapping(Types &t) {
    return {
        {"the same twice", t.list({0, 0, 100})},
        {"the same twice, apart", t.list({0, 100, 0})},
        {"half of the other", t.list({0, 2, 100})},
        {"one byte", t.list({0, 100, 97})},
        {"blocks of different lengths", t.blocks({3, 1, 2}, {0, 100, 8})},
        {"vector with a stride of half an element", t.vector(3, 1, 2)},
        {"vector with stride 0", t.vector(3, 1, 0)},
        {"vector that goes back by half an element", t.vector(3, 1, -2)},
        {"vector whose blocks overlap", t.vector(3, 2, 4)},
        {"vector whose long blocks overlap", t.vector(2, 100, 396)},
        {"extent 0", t.resized(0), 3},
        {"extent less than an element", t.resized(2), 3},
        {"extent that goes back by less than an element", t.resized(-2), 3},
        {"extent less than the true extent", t.resized(8, t.vector(2, 1, 8)), 2},
        {"the fourth meets the first", t.resized(4, t.vector(2, 1, 12)), 4},
        {"the far element meets another", t.resized(100, t.vector(2, 1, 400)), 5},
        {"fields that overlap", t.fields({0, 2}, {UCD_TYPE__INT, UCD_TYPE__INT})},
        {"a field twice", t.fields({0, 8, 0}, {UCD_TYPE__INT, UCD_TYPE__INT, UCD_TYPE__INT})},
        {"a field in another's gap, and too long",
         t.fields({0, 4}, {t.vector(4, 1, 12), t.vector(2, 3, 12)})},
        {"a list of lists that overlap", t.list({0, 40, 20}, t.list({0, 8, 20}))},
        {"a vector of vectors that overlap", t.vector(4, 1, 6, t.vector(3, 1, 12))},
        {"a vector of vectors that meet late", t.vector(10, 1, 36, t.vector(10, 1, 4))},
        {"a vector of lists that meet", t.vector(3, 1, 24, t.list({0, 4, 48}))},
        {"many, and the first again", t.list(many_and_the_first_again())},
        {"many of them, the last on the first", t.list({0, 4000, 200, -600}, t.vector(200, 1, 4))},
    };
}

std::vector<Layout> legal(Types &t) {
    return {
        {"interleaved by extent", t.resized(4, t.vector(2, 1, 8)), 2},
        {"interleaved by extent, three", t.resized(4, t.vector(2, 1, 12)), 3},
        {"columns of a matrix", t.resized(4, t.vector(20, 1, 80)), 20},
        {"negative stride", t.vector(3, 1, -8)},
        {"negative stride that touches", t.vector(3, 1, -4)},
        {"negative extent", t.resized(-4), 5},
        {"backwards", t.list({100, 50, 0})},
        {"touching, in any order", t.list({8, 0, 12, 4})},
        {"a triangle", t.blocks({1, 2, 3, 4, 5}, {0, 80, 160, 240, 320})},
        {"a triangle that is packed", t.blocks({1, 2, 3, 4}, {0, 4, 12, 24})},
        {"an upper triangle", t.blocks({4, 3, 2, 1}, {0, 20, 40, 60})},
        {"two triangles that make a square",
         t.fields({0, 0},
                  {t.blocks({4, 3, 2, 1}, {0, 20, 40, 60}), t.blocks({1, 2, 3}, {16, 32, 48})})},
        {"fields in each other's gaps", t.fields({0, 4}, {t.vector(10, 1, 8), t.vector(10, 1, 8)})},
        {"a list in a vector's gaps", t.fields({0, 4}, {t.vector(4, 1, 12), t.list({0, 12, 28})})},
        {"lists in each other's gaps", t.list({0, 4}, t.list({0, 8, 24}))},
        {"a vector of lists in their gaps", t.vector(3, 1, 4, t.list({0, 100, 212}))},
        {"extent 0 of one", t.resized(0), 1},
        {"stride 0 of one", t.vector(1, 1, 0)},
        {"nothing, overlapping", t.vector(3, 0, 0)},
    };
}

constexpr std::size_t base = 3000; // ints before the elements

// As the library has it of `op`: REPLACE by put or accumulate, SUM by the two accumulates. NO_OP
// and get only read.
enum class Way { put, replace, sum, fetching_sum, fetching_replace, no_op, get };
constexpr Way ways[] = {Way::put,          Way::replace,          Way::sum,
                        Way::fetching_sum, Way::fetching_replace, Way::no_op,
                        Way::get};

ucs_status_t run(Way way, const Layout &layout, RmaPair &pair, const Window &window,
                 std::vector<int> &from) {
    std::vector<int> old(from.size());
    const bool sums = way == Way::sum || way == Way::fetching_sum;
    const ucd_op_t op = way == Way::no_op ? UCD_UCX_OP__NO_OP
                        : sums            ? UCD_OP__SUM
                                          : UCD_OP__REPLACE;
    const Data origin = {from.data(), from.size(), UCD_TYPE__INT},
               result = {old.data(), old.size(), UCD_TYPE__INT};
    const Place target = {window.key(), base * sizeof(int), layout.count, layout.type};
    Outcome o;
    switch (way) {
    case Way::put: start_put(pair.a, origin, target, o); break;
    case Way::get: start_get(pair.a, result, target, o); break;
    case Way::replace:
    case Way::sum: start_accumulate(pair.a, origin, target, op, o); break;
    default: start_get_accumulate(pair.a, origin, result, target, op, o);
    }
    pair.until([&] { return o.done(); });
    return o.result.status;
}

// What an operation leaves of the window.
std::vector<int> expected_of(Way way, const Layout &layout, const std::vector<int> &before,
                             const std::vector<int> &from) {
    std::vector<int> expected = before;
    if (way == Way::no_op || way == Way::get) return expected;
    const bool sums = way == Way::sum || way == Way::fetching_sum;
    std::uintptr_t moved;
    ok(ucd_unpack(from.data(), from.size() * sizeof(int), expected.data() + base, layout.count,
                  layout.type, 0, &moved, UCD_INFO__NULL, sums ? UCD_OP__SUM : UCD_OP__REPLACE),
       "unpack");
    return expected;
}

} // namespace

TEST_CASE("target elements that overlap are refused, and those between each other are written") {
    std::vector<int> before(8000);
    std::iota(before.begin(), before.end(), 1000000);
    std::vector<int> memory = before;
    RmaPair pair;
    const Window window(pair.b, memory.data(), memory.size() * sizeof(int));
    Types types;
    for (const bool overlap : {true, false}) {
        for (const Layout &layout : overlap ? overlapping(types) : legal(types)) {
            std::vector<int> from(layout.ints());
            std::iota(from.begin(), from.end(), 1);
            for (const Way way : ways) {
                INFO(layout.name << ", way " << static_cast<int>(way));
                // Elements that are only read may overlap.
                const bool refused = overlap && way != Way::no_op && way != Way::get;
                const ucs_status_t status = run(way, layout, pair, window, from);
                CHECK(std::string(ucs_status_string(status)) ==
                      ucs_status_string(refused ? UCS_ERR_INVALID_PARAM : UCS_OK));
                const bool as_expected =
                    memory == (refused ? before : expected_of(way, layout, before, from));
                CHECK(as_expected);
                memory = before;
            }
        }
    }
}

} // namespace attacks_grants_test
