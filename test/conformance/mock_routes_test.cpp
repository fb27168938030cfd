// Every route: random types between every two kinds of memory, with a mock backend for the devices.
#include "support/catch.hpp"

#include "support/mock_fixture.hpp"

#include "staging.h"

#include <cerrno>
#include <unistd.h>
#include <utility>

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// Some range of the subject's stream, of whole elements if it is to be reduced.
std::pair<std::size_t, std::size_t> random_range(Rng &rng, ucd_op_t op,
                                                 const ReducedSubject &what) {
    const bool replace = op == UCD_OP__REPLACE;
    const std::size_t units = replace ? what.subject.size() : what.elements.size();
    std::size_t first = 0, last = units;
    if (units > 0 && rng.chance(60)) {
        first = rng.below(units);
        last = first + 1 + rng.below(units - first);
    }
    const std::size_t from = replace ? first : what.offset_of(first);
    return {from, (replace ? last : what.offset_of(last)) - from};
}

void random_knobs(Rng &rng) {
    mock::knobs.peers = rng.chance(30);
    mock::knobs.private_pinned = rng.chance(30);
    mock::knobs.delay_us = rng.chance(20) ? 20 : 0;
}

void check_moves(Case &one, ucd_op_t op, const ReducedSubject &what, Memory a, Memory b) {
    Rng &rng = one.rng();
    MockBuffer laid_out(rng, what.subject.range, a);
    MockBuffer packed(rng, {0, static_cast<std::intptr_t>(what.subject.size())}, b);
    for (int i = 0; i < 2; ++i) {
        const auto [offset, length] = random_range(rng, op, what);
        const MockMove move{one, op, what, laid_out, packed, offset, length};
        check_mock_pack(move);
        check_mock_unpack(move);
    }
}

// The same elements in the same order, each at a place of its own.
RecipePtr same_elements_elsewhere(Rng &rng, const TypeMap &map) {
    Ints displs;
    std::vector<RecipePtr> types;
    std::intptr_t cursor = rng.between(-100, 100);
    for (const Entry &entry : map.entries) {
        displs.push_back(cursor);
        types.push_back(leaf(entry.type->handle));
        cursor += static_cast<std::intptr_t>(entry.type->extent);
        if (rng.chance(40)) cursor += rng.between(0, 9);
    }
    return structure(Ints(types.size(), 1), displs, types);
}

} // namespace

TEST_CASE("packing and unpacking between every two memories") {
    for (const Memory a : all_memories) {
        for (const Memory b : all_memories) {
            const std::string name = std::string("mock moves ") + name_of(a) + ", " + name_of(b);
            MockSession session;
            run_cases(name.c_str(), 120, [&](Case &one) {
                Rng &rng = one.rng();
                random_knobs(rng);
                const ucd_op_t op = random_mock_op(rng);
                check_moves(one, op, with_elements(random_subject(one, mock_options(op))), a, b);
            });
        }
    }
}

TEST_CASE("reductions of mixed elements through chunks that they do not fill") {
    MockSession session;
    run_cases("mock mixed elements", 600, [](Case &one) {
        Rng &rng = one.rng();
        random_knobs(rng);
        use_staging(64 + rng.below(100), 1 + static_cast<unsigned>(rng.below(3)));
        const ucd_op_t op = rng.chance(50) ? UCD_OP__SUM : UCD_OP__MAX;
        const ReducedSubject what = with_elements(random_subject(one, mock_options(op)));
        check_moves(one, op, what, random_memory(rng), random_memory(rng));
    });
}

TEST_CASE("copies between every two memories") {
    for (const Memory a : all_memories) {
        for (const Memory b : all_memories) {
            const std::string name = std::string("mock copies ") + name_of(a) + ", " + name_of(b);
            MockSession session;
            run_cases(name.c_str(), 100, [&](Case &one) {
                Rng &rng = one.rng();
                random_knobs(rng);
                const ucd_op_t op = random_mock_op(rng);
                const ReducedSubject source =
                    with_elements(random_subject(one, mock_options(op), 5, "source"));
                const RecipePtr other =
                    rng.chance(20) && op == UCD_OP__REPLACE
                        ? contig(static_cast<std::intptr_t>(source.subject.map->size),
                                 leaf(UCD_TYPE__BYTE))
                        : same_elements_elsewhere(rng, *source.subject.map);
                const ReducedSubject target =
                    with_elements(make_subject(one, other, source.subject.count, "target"));
                MockBuffer in(rng, source.subject.range, a), out(rng, target.subject.range, b);
                check_mock_copy(one, op, source, in, target, out);
                if (!overlaps(source.subject.bytes))
                    check_mock_copy(one, op, target, out, source, in);
            });
        }
    }
}

namespace {

// What one pack of a strided type between two memories makes the backend do.
struct Effort {
    int launches, copies, allocations;
    friend bool operator==(const Effort &, const Effort &) = default;
};

Effort effort_of_pack(Memory a, Memory b) {
    const BuiltType type(vector(8, 4, 8, leaf(UCD_TYPE__INT)));
    Rng rng(1);
    MockBuffer laid_out(rng, {0, 256}, a), packed(rng, {0, 128}, b);
    laid_out.send();
    packed.send();
    std::uintptr_t actual = 0;
    REQUIRE(ucd_pack(laid_out.real_base(), 1, type.get(), 0, packed.real_base(), 128, &actual,
                     UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
    return {mock::counts.launches, mock::counts.copies, mock::counts.allocations};
}

void require_effort(Memory a, Memory b, const Effort &expected, bool peers = false,
                    bool private_pinned = false) {
    MockSession session;
    mock::knobs.peers = peers;
    mock::knobs.private_pinned = private_pinned;
    const Effort found = effort_of_pack(a, b);
    INFO(name_of(a) << " to " << name_of(b) << ": " << found.launches << " launches, "
                    << found.copies << " copies, " << found.allocations << " chunks");
    CHECK(found == expected);
}

} // namespace

TEST_CASE("much data, through chunks of their usual size") {
    MockSession session;
    const ucd::StagingSizes usual;
    use_staging(usual.chunk_bytes, usual.chunks);
    for (const auto &[a, b] : {std::pair{Memory::device0, Memory::pageable},
                               std::pair{Memory::pageable, Memory::device1},
                               std::pair{Memory::device1, Memory::device0}}) {
        StridedMove move("much", usual.chunk_bytes * 5 / 8, a, b); // two chunks and a half
        move.op = UCD_OP__SUM;
        REQUIRE(move.start_pack() == UCD_SUCCESS);
        REQUIRE(move.wait() == UCD_SUCCESS);
        move.check();
        REQUIRE(move.start_unpack() == UCD_SUCCESS);
        REQUIRE(move.wait() == UCD_SUCCESS);
        move.check();
    }
}

TEST_CASE("the mock's device memory is out of the host's reach") {
    Rng rng(4);
    const MockBuffer device(rng, {0, 64}, Memory::device0), pinned(rng, {0, 64}, Memory::pinned);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    CHECK(::write(ends[1], pinned.real_base(), 1) == 1);
    CHECK(::write(ends[1], device.real_base(), 1) == -1);
    CHECK(errno == EFAULT);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("the shortest way is taken") {
    using enum Memory;
    constexpr Effort host{0, 0, 0}, direct{1, 0, 0};
    // The host reaches both.
    for (const Memory a : {pageable, pinned, managed})
        for (const Memory b : {pageable, pinned, managed}) require_effort(a, b, host);
    // One device does.
    for (const Memory a : {pinned, managed, device0}) require_effort(a, device0, direct);
    for (const Memory b : {pinned, managed, device0}) require_effort(device0, b, direct);
    require_effort(device0, device1, direct, true);
    require_effort(device1, device0, direct, true);
    // A kernel and a chunk; the host does the rest.
    require_effort(device0, pageable, {1, 0, 1});
    require_effort(device1, pageable, {1, 0, 1});
    // The host, a chunk and a copy.
    require_effort(pageable, device1, {0, 1, 1});
    // One device after the other, by way of a chunk that both reach, or of two.
    require_effort(device0, device1, {1, 1, 1});
    require_effort(device0, device1, {1, 1, 2}, false, true);
}

TEST_CASE("hints spare the look at the buffers, and lead the same way") {
    using enum Memory;
    constexpr const char *hints[] = {"host", "pinned", "managed", "mock:0", "mock:1"};
    const BuiltType type(vector(8, 4, 8, leaf(UCD_TYPE__INT)));
    Rng rng(1);
    for (const Memory a : all_memories) {
        for (const Memory b : all_memories) {
            MockSession session;
            const Effort unhinted = effort_of_pack(a, b);
            CHECK(mock::counts.queries == 2);
            mock::reset();
            use_staging(512, 3);
            MockBuffer laid_out(rng, {0, 256}, a), packed(rng, {0, 128}, b);
            ucd_info_t info = UCD_INFO__NULL;
            REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
            REQUIRE(ucd_info_set(info, "ucd.outbuf", hints[static_cast<int>(a)]) == UCD_SUCCESS);
            REQUIRE(ucd_info_set(info, "ucd.inbuf", hints[static_cast<int>(b)]) == UCD_SUCCESS);
            std::uintptr_t actual = 0;
            REQUIRE(ucd_unpack(packed.real_base(), 128, laid_out.real_base(), 1, type.get(), 0,
                               &actual, info, UCD_OP__REPLACE) == UCD_SUCCESS);
            ucd_info_free(&info);
            CHECK(mock::counts.queries == 0);
            const int steps = unhinted.launches + unhinted.copies;
            CHECK(mock::counts.launches + mock::counts.copies == steps);
            CHECK(mock::counts.allocations == unhinted.allocations);
        }
    }
}

TEST_CASE("ucd.gpu=none looks at nothing") {
    MockSession session;
    ucd_info_t info = UCD_INFO__NULL;
    REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
    REQUIRE(ucd_info_set(info, "ucd.gpu", "none") == UCD_SUCCESS);
    const int in[4] = {1, 2, 3, 4};
    int out[4] = {};
    std::uintptr_t actual = 0;
    CHECK(ucd_pack(in, 4, UCD_TYPE__INT, 0, out, 16, &actual, info, UCD_OP__REPLACE) ==
          UCD_SUCCESS);
    ucd_info_free(&info);
    CHECK(out[3] == 4);
    CHECK(mock::counts.queries == 0);
}

TEST_CASE("copies on one device stay on it") {
    MockSession session;
    const BuiltType in_type(vector(8, 1, 2, leaf(UCD_TYPE__INT))),
        out_type(vector(8, 1, 3, leaf(UCD_TYPE__INT)));
    Rng rng(2);
    MockBuffer in(rng, {0, 64}, Memory::device1), out(rng, {0, 96}, Memory::device1);
    in.send();
    std::uintptr_t actual = 0;
    REQUIRE(ucd_copy(in.real_base(), 1, in_type.get(), out.real_base(), 1, out_type.get(), &actual,
                     UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
    CHECK(actual == 32);
    CHECK(mock::counts.launches == 2);
    CHECK(mock::counts.copies == 0);
}

TEST_CASE("buffers without an address of their own: absolute displacements") {
    MockSession session;
    run_cases("mock absolute", 200, [](Case &one) {
        Rng &rng = one.rng();
        const Subject subject = random_nonempty_subject(one, mock_options(UCD_OP__REPLACE));
        MockBuffer laid_out(rng, subject.range, random_memory(rng));
        MockBuffer packed(rng, {0, static_cast<std::intptr_t>(subject.size())}, random_memory(rng));
        for (std::size_t i = 0; i < subject.size(); ++i)
            *packed.expected(static_cast<std::intptr_t>(i)) = *laid_out.actual(subject.bytes[i]);
        laid_out.send();
        packed.send();
        // The type, shifted to where the memory is.
        const auto at = reinterpret_cast<std::intptr_t>(laid_out.real_base());
        const std::intptr_t length = static_cast<std::intptr_t>(subject.count);
        const ucd_type_t old = subject.type();
        ucd_type_t type = UCD_TYPE__NULL;
        one.succeed(ucd_create_hindexed(1, &length, &at, old, UCD_INFO__NULL, &type), "create");
        const BuiltType owner(type);
        std::uintptr_t actual = 0;
        one.succeed(ucd_pack(nullptr, 1, type, 0, packed.real_base(), subject.size(), &actual,
                             UCD_INFO__NULL, UCD_OP__REPLACE),
                    "pack");
        packed.fetch();
        require_intact(one, packed, "packed buffer");
    });
}
