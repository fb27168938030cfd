// Lists of moves of all kinds between all memories, in calls and by plans, and data whose parts lie
// in several memories; on whatever backend the program is linked with.
#include "support/catch.hpp"

#include "support/moves/device_moves.hpp"
#include "support/moves/strided_move.hpp"

#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <vector>

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// A member of a list, and its two buffers.
struct ListedMove {
    enum class Kind { pack, unpack, copy };
    Kind kind;
    ReducedSubject what; // and its typed buffer, or the source
    ReducedSubject target;
    Memory first_memory, second_memory;
    std::unique_ptr<DeviceBuffer> first, second;
    std::size_t offset = 0, length = 0;
    CopyRange range;

    TouchedRange second_range() const {
        if (kind == Kind::copy) return target.subject.range;
        return {0, static_cast<std::intptr_t>(what.subject.size())};
    }
    void allocate(Rng &rng) {
        first = std::make_unique<DeviceBuffer>(rng, what.subject.range, first_memory);
        second = std::make_unique<DeviceBuffer>(rng, second_range(), second_memory);
    }
    DeviceMove move(Case &one, ucd_op_t op) const {
        return {one, op, what, *first, *second, offset, length};
    }
    DeviceCopy copy(Case &one, ucd_op_t op) const {
        return {one, op, what, *first, target, *second, range};
    }
    void set_up(Case &one, ucd_op_t op) const {
        if (kind == Kind::copy) return set_up_copy(copy(one, op));
        (kind == Kind::pack ? set_up_pack : set_up_unpack)(move(one, op));
    }
    ucd_move_t desc(Case &one, ucd_op_t op) const {
        if (kind == Kind::copy) return copy_of(copy(one, op));
        return (kind == Kind::pack ? pack_of : unpack_of)(move(one, op));
    }
    std::size_t bytes() const { return kind == Kind::copy ? range.bytes : length; }
    void check(Case &one, ucd_op_t op) const {
        if (kind == Kind::copy) return check_result(copy(one, op));
        check_result(move(one, op));
    }
};

ListedMove random_member(Case &one, ucd_op_t op, const std::vector<Memory> &memories) {
    Rng &rng = one.rng();
    ListedMove m;
    m.kind = static_cast<ListedMove::Kind>(rng.below(3));
    RecipeOptions options = device_options(op);
    options.max_bytes = 512;
    m.what = with_elements(random_subject(one, options, 3, "member"));
    m.first_memory = memories[rng.below(memories.size())];
    m.second_memory = memories[rng.below(memories.size())];
    const std::size_t elements = m.what.elements.size();
    const std::size_t first = rng.below(elements + 1),
                      last = first == elements ? first : first + 1 + rng.below(elements - first);
    m.offset = m.what.offset_of(first);
    m.length = m.what.offset_of(last) - m.offset;
    if (m.kind == ListedMove::Kind::copy) {
        // To another place in the same type: the elements are the same there.
        m.target =
            with_elements(make_subject(one, m.what.subject.recipe, m.what.subject.count, "target"));
        m.range = {true, m.offset, m.offset, m.length, m.length};
        if (op == UCD_OP__REPLACE)
            m.range = random_range(rng, m.what.subject.size(), m.target.subject.size());
    }
    m.allocate(rng);
    return m;
}

struct Listed {
    Case &one;
    ucd_op_t op;
    std::vector<ListedMove> members;

    std::vector<ucd_move_t> descs() const {
        std::vector<ucd_move_t> moves;
        for (const ListedMove &m : members) moves.push_back(m.desc(one, op));
        return moves;
    }
    void set_up() const {
        for (const ListedMove &m : members) m.set_up(one, op);
    }
    void check(const std::vector<ucd_move_t> &moves) const {
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (moves[i].actual_bytes != members[i].bytes())
                one.fail("member ", i, " moved ", moves[i].actual_bytes, " bytes, not ",
                         members[i].bytes());
            members[i].check(one, op);
        }
    }
};

Listed random_list(Case &one, ucd_op_t op, const std::vector<Memory> &memories) {
    Listed list{one, op, {}};
    for (std::size_t i = one.rng().below(one.rng().chance(10) ? 60 : 8); i > 0; --i)
        list.members.push_back(random_member(one, op, memories));
    return list;
}

const std::vector<Memory> everywhere(std::begin(all_memories), std::end(all_memories));

} // namespace

TEST_CASE("lists of moves of all kinds between all memories") {
    DeviceSession session;
    run_cases("device lists", 400, [](Case &one) {
        Rng &rng = one.rng();
        random_knobs(rng);
        const ucd_op_t op = random_device_op(rng);
        const Listed list = random_list(one, op, everywhere);
        list.set_up();
        std::vector<ucd_move_t> moves = list.descs();
        ucd_request_t request = UCD_REQUEST__NULL;
        if (rng.chance(30)) {
            one.succeed(ucd_move(moves.data(), moves.size(), UCD_INFO__NULL, op), "ucd_move");
        } else {
            one.succeed(ucd_imove(moves.data(), moves.size(), UCD_INFO__NULL, op, &request),
                        "ucd_imove");
            one.succeed(finish(rng, request), "the request of a list");
        }
        list.check(moves);
    });
    mock::reset();
}

TEST_CASE("a plan does what its list does, each time, with any buffers") {
    DeviceSession session;
    run_cases("device plans", 300, [](Case &one) {
        Rng &rng = one.rng();
        random_knobs(rng);
        const ucd_op_t op = random_device_op(rng);
        Listed list = random_list(one, op, everywhere);
        std::vector<ucd_move_t> moves = list.descs();
        ucd_plan_t plan = UCD_PLAN__NULL;
        one.succeed(ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, op, &plan),
                    "ucd_plan_create");
        for (int round = 0; round < 3; ++round) {
            if (round == 2 && !list.members.empty()) {
                // Some of them elsewhere.
                const std::size_t first = rng.below(list.members.size()),
                                  count = rng.below(list.members.size() - first + 1);
                std::vector<const void *> in;
                std::vector<void *> out;
                for (std::size_t i = first; i < first + count; ++i) {
                    list.members[i].allocate(rng);
                    const ucd_move_t now = list.members[i].desc(one, op);
                    in.push_back(now.inbuf);
                    out.push_back(now.outbuf);
                }
                one.succeed(ucd_plan_rebase(plan, first, count, in.data(), out.data()),
                            "ucd_plan_rebase");
            }
            list.set_up();
            ucd_request_t request = UCD_REQUEST__NULL;
            one.succeed(ucd_plan_start(plan, &request), "ucd_plan_start");
            if (round == 2 && rng.chance(50)) one.succeed(ucd_plan_free(&plan), "ucd_plan_free");
            one.succeed(finish(rng, request), "the request of a plan");
            list.check(moves);
        }
        if (plan != UCD_PLAN__NULL) one.succeed(ucd_plan_free(&plan), "ucd_plan_free");
    });
    mock::reset();
}

TEST_CASE("lists and plans in streams") {
    DeviceSession session;
    mock::Stream stream(0);
    run_cases("lists in streams", 200, [&](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op = random_device_op(rng);
        Listed list{one, op, {}};
        for (std::size_t i = rng.below(8); i > 0; --i) {
            ListedMove m = random_member(one, op, {device0, pinned, managed});
            if (!m.what.subject.map->by_reference) list.members.push_back(std::move(m));
        }
        list.set_up();
        std::vector<ucd_move_t> moves = list.descs();
        one.succeed(ucd_move_stream(moves.data(), moves.size(), UCD_INFO__NULL, op, native(stream)),
                    "ucd_move_stream");
        stream.synchronise();
        list.check(moves);
        ucd_plan_t plan = UCD_PLAN__NULL;
        one.succeed(ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, op, &plan),
                    "ucd_plan_create");
        for (int round = 0; round < 2; ++round) {
            list.set_up();
            one.succeed(ucd_plan_start_stream(plan, native(stream)), "ucd_plan_start_stream");
            if (round == 1) one.succeed(ucd_plan_free(&plan), "ucd_plan_free");
            stream.synchronise();
            if (!stream.failure().empty()) one.fail(stream.failure());
            list.check(moves);
        }
    });
}

// The host moves the first member, too, only when the indices of the second one are there.
TEST_CASE("types of a list may be freed while indices are on their way") {
    DeviceSession session;
    static const std::int32_t places[] = {3, 1, 0, 2};
    static const double values[] = {1, 2, 3, 4};
    double found[4] = {};
    void *const indices = mock::allocate(ucd::MemoryKind::device, 0, sizeof places);
    mock::write(indices, places, sizeof places);
    ucd_type_t type = UCD_TYPE__NULL;
    REQUIRE(ucd_create_indexed_block_ref(4, 1, indices, UCD_TYPE__INT32_T, 8, 0, 32,
                                         UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    StridedMove first("first", 200, pageable, pageable);
    set_up_pack(first.move());
    std::vector<ucd_move_t> moves = {
        pack_of(first.move()),
        {values, 1, type, 0, found, sizeof found, UCD_TYPE__NULL, 0, UINTPTR_MAX, 0, {}}};
    ucd_request_t request = UCD_REQUEST__NULL;
    mock::hold();
    REQUIRE(ucd_imove(moves.data(), moves.size(), UCD_INFO__NULL, UCD_OP__REPLACE, &request) ==
            UCD_SUCCESS);
    REQUIRE(request != UCD_REQUEST__NULL);
    first.free_type();
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    mock::let_go();
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    first.check();
    for (int i = 0; i < 4; ++i) CHECK(found[i] == values[places[i]]);
    mock::release(indices);
}

// ---- one object whose parts lie in several memories ---------------------------------------------

namespace {

// Every other int of a buffer in each memory, at absolute addresses, as one type.
struct Scattered {
    Case one{"scattered", 0};
    std::list<StridedMove> parts; // their packed buffers are not used
    ucd_type_t type = UCD_TYPE__NULL;
    std::size_t bytes = 0;

    explicit Scattered(const std::vector<Memory> &memories, bool as_struct) {
        std::vector<std::intptr_t> lengths, displs;
        std::vector<ucd_type_t> types;
        for (std::size_t i = 0; i < memories.size(); ++i) {
            const StridedMove &part =
                parts.emplace_back("part", as_struct ? 20 + i : 20, memories[i], pageable);
            lengths.push_back(1);
            displs.push_back(reinterpret_cast<std::intptr_t>(part.typed.real_base()));
            types.push_back(part.type());
            bytes += part.bytes();
        }
        const auto count = static_cast<std::intptr_t>(types.size());
        const int rc = as_struct ? ucd_create_struct(count, lengths.data(), displs.data(),
                                                     types.data(), UCD_INFO__NULL, &type)
                                 : ucd_create_hindexed(count, lengths.data(), displs.data(),
                                                       types[0], UCD_INFO__NULL, &type);
        REQUIRE(rc == UCD_SUCCESS);
    }
    Scattered(const Scattered &) = delete;
    Scattered &operator=(const Scattered &) = delete;
    ~Scattered() { ucd_free(&type); }

    void set(int round) {
        for (StridedMove &part : parts) {
            part.typed.randomise(part.one.rng());
            const std::size_t ints = part.bytes() / sizeof(int);
            for (std::size_t i = 0; i < ints; ++i) {
                const int value = round + static_cast<int>(i);
                const auto *as_bytes = reinterpret_cast<const std::byte *>(&value);
                for (std::size_t b = 0; b < sizeof value; ++b)
                    part.typed.set(static_cast<std::intptr_t>(8 * i + b), as_bytes[b]);
            }
            part.typed.send();
        }
    }
    // What the parts hold, in packed order.
    std::vector<int> stream() {
        std::vector<int> all;
        for (StridedMove &part : parts) {
            part.typed.fetch();
            for (std::size_t i = 0; i < part.bytes() / sizeof(int); ++i) {
                int value;
                std::memcpy(&value, part.typed.actual(static_cast<std::intptr_t>(8 * i)), 4);
                all.push_back(value);
            }
        }
        return all;
    }
    // Nothing but the ints that are expected has changed.
    void require_rest_intact() {
        for (StridedMove &part : parts) {
            part.typed.fetch();
            for (std::size_t i = 0; i < part.bytes() / sizeof(int); ++i)
                for (std::intptr_t b = 0; b < 4; ++b) {
                    const auto at = static_cast<std::intptr_t>(8 * i) + b;
                    *part.typed.expected(at) = *part.typed.actual(at);
                }
            require_intact(part.one, part.typed, "around a part");
        }
    }
};

const std::vector<Memory> mixed = {pageable, device0, device0, pinned, device1, pageable};

} // namespace

TEST_CASE("parts of one object lie in several memories") {
    DeviceSession session;
    for (const bool as_struct : {true, false}) {
        Scattered data(mixed, as_struct);
        for (const Memory packed_memory : all_memories) {
            DeviceBuffer packed(data.one.rng(), {0, static_cast<std::intptr_t>(data.bytes)},
                                packed_memory);
            std::uintptr_t actual = 0;
            // Any range of it.
            for (const std::size_t offset : {std::size_t{0}, std::size_t{90}, data.bytes - 4}) {
                data.set(7);
                const std::vector<int> before = data.stream();
                const std::size_t bytes = data.bytes - offset;
                REQUIRE(ucd_pack(nullptr, 1, data.type, offset, packed.real_base(), bytes, &actual,
                                 UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
                REQUIRE(actual == bytes);
                packed.fetch();
                CHECK(std::memcmp(packed.actual(0),
                                  reinterpret_cast<const char *>(before.data()) + offset,
                                  bytes) == 0);
            }
            // Back, with other values, and added.
            REQUIRE(ucd_pack(nullptr, 1, data.type, 0, packed.real_base(), data.bytes, &actual,
                             UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
            data.set(1000);
            REQUIRE(ucd_unpack(packed.real_base(), data.bytes, nullptr, 1, data.type, 0, &actual,
                               UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
            CHECK(data.stream()[3] == 10);
            data.require_rest_intact();
            REQUIRE(ucd_unpack(packed.real_base(), data.bytes, nullptr, 1, data.type, 0, &actual,
                               UCD_INFO__NULL, UCD_OP__SUM) == UCD_SUCCESS);
            const std::vector<int> sum = data.stream();
            for (std::size_t i = 0, in_part = 0, part = 0; i < sum.size(); ++i, ++in_part) {
                if (in_part == (as_struct ? 20 + part : 20)) in_part = 0, ++part;
                REQUIRE(sum[i] == 2 * (7 + static_cast<int>(in_part)));
            }
            data.require_rest_intact();
        }
    }
}

TEST_CASE("copies between objects whose parts lie in several memories") {
    DeviceSession session;
    const std::vector<Memory> others = {device1, pageable, device0, managed, pageable, device0};
    Scattered in(mixed, true), out(others, true);
    for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__SUM}) {
        in.set(5);
        out.set(100);
        const std::vector<int> expected = in.stream();
        std::vector<int> before = out.stream();
        std::uintptr_t actual = 0;
        REQUIRE(ucd_copy(nullptr, 1, in.type, nullptr, 1, out.type, &actual, UCD_INFO__NULL, op) ==
                UCD_SUCCESS);
        CHECK(actual == in.bytes);
        const std::vector<int> found = out.stream();
        for (std::size_t i = 0; i < found.size(); ++i)
            REQUIRE(found[i] == (op == UCD_OP__SUM ? before[i] : 0) + expected[i]);
        out.require_rest_intact();
    }
}

TEST_CASE("a stream's device must reach all parts of an object") {
    DeviceSession session;
    mock::Stream stream(0);
    Scattered near({device0, pinned, device0}, true), far({device0, pinned, pageable}, true);
    DeviceBuffer packed(near.one.rng(), {0, static_cast<std::intptr_t>(near.bytes)}, device0);
    std::uintptr_t actual = 0;
    near.set(3);
    const std::vector<int> expected = near.stream();
    REQUIRE(ucd_pack_stream(nullptr, 1, near.type, 0, packed.real_base(), near.bytes, &actual,
                            UCD_INFO__NULL, UCD_OP__REPLACE, native(stream)) == UCD_SUCCESS);
    stream.synchronise();
    packed.fetch();
    CHECK(std::memcmp(packed.actual(0), expected.data(), near.bytes) == 0);
    if (mock::backend.remembers) return; // may reach pageable memory
    actual = 7;
    CHECK(ucd_pack_stream(nullptr, 1, far.type, 0, packed.real_base(), far.bytes, &actual,
                          UCD_INFO__NULL, UCD_OP__REPLACE, native(stream)) == UCD_ERR__INVALID_ARG);
    CHECK(actual == 7);
}
