// Batches whose members lie in many memories: what is moved, and with how many launches.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/strided_move.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mock_batch_test {

using namespace ucdtest;
using enum ucdtest::Memory;

namespace {

// Packs all in one batch, and checks.
void check_batch(StridedMoves &moves) {
    moves.set_up();
    MoveList descs = moves.list();
    ucd_request_t request = UCD_REQUEST__NULL;
    REQUIRE(start(descs, &request) == UCD_SUCCESS);
    for (const ucd_move_t &desc : descs) CHECK(desc.actual_bytes == desc.outcount);
    descs.clear();
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    moves.check();
}

} // namespace

TEST_CASE("the members on one device are one launch") {
    DeviceSession session;
    StridedMoves moves;
    moves.add(20, device0, pinned);
    check_batch(moves);
    CHECK(mock::counts.launches == 1);
    CHECK(mock::counts.moves == 20);
    moves.add(20, device1, device1);
    check_batch(moves);
    CHECK(mock::counts.launches == 1 + 2);
    moves.add(20, pageable, managed); // the host's
    check_batch(moves);
    CHECK(mock::counts.launches == 1 + 2 + 2);
    CHECK(mock::counts.allocations == 0);
}

TEST_CASE("small staged members share chunks and launches") {
    DeviceSession session;
    use_staging(4096, 2);
    StridedMoves moves;
    moves.add(20, device0, pageable);
    check_batch(moves);
    CHECK(mock::counts.launches == 1);
    CHECK(mock::counts.moves == 20);
    CHECK(mock::counts.copies == 0);
    CHECK(mock::counts.allocations == 1);
    moves.all.clear();
    moves.add(20, pageable, device0); // from the chunk, in one launch too
    check_batch(moves);
    CHECK(mock::counts.launches == 2);
    CHECK(mock::counts.copies == 0);
}

TEST_CASE("one wrong member, and nothing starts") {
    DeviceSession session;
    StridedMoves moves;
    moves.add(6, device0, device0);
    moves.add(6, device0, pageable);
    MoveList descs = moves.list();
    descs[4].inoffset = 1000000;
    CHECK(move_all(descs) == UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("moves[4]"));
    // The packed side has no offset, whichever it is.
    for (const bool packs : {true, false}) {
        StridedMoves alike;
        alike.add(6, device0, device0);
        MoveList wrong = alike.list(packs);
        (packs ? wrong[4].outoffset : wrong[4].inoffset) = 4;
        CHECK(move_all(wrong) == UCD_ERR__INVALID_ARG);
        CHECK(last_error_says(packs ? "moves[4]: outoffset is 4" : "moves[4]: inoffset is 4"));
    }
    descs = moves.list();
    descs[7].incount = 0;                    // nothing to do is no mistake
    descs[8].intype = UCD_TYPE__LONG_DOUBLE; // no device reduces that
    descs[8].outcount = 16;
    CHECK(move_all(descs, UCD_INFO__NULL, UCD_OP__SUM) ==
          UCD_SUCCESS); // the host can, and the packed buffer is its own
    mock::reset();
    use_staging(512, 3);
    descs[2].intype = UCD_TYPE__LONG_DOUBLE;
    descs[2].outcount = 16;
    for (ucd_move_t &desc : descs) desc.actual_bytes = 0;
    CHECK(move_all(descs, UCD_INFO__NULL, UCD_OP__SUM) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("moves[2]: backend mock has no SUM"));
    CHECK(mock::counts.launches == 0);
    CHECK(mock::counts.allocations == 0);
    for (const ucd_move_t &desc : descs) CHECK(desc.actual_bytes == 0);
}

TEST_CASE("a batch with an op that its device lacks is refused, however often it comes") {
    DeviceSession session;
    Rng rng(3);
    DeviceBuffer in(rng, {0, 1600}, device0), out(rng, {0, 1600}, device0);
    in.send();
    out.send();
    MoveList descs;
    for (std::ptrdiff_t i = 0; i < 100; ++i)
        descs.push_back(pack_move(in.at(16 * i), 1, UCD_TYPE__LONG_DOUBLE, 0, out.at(16 * i), 16));
    for (int time = 0; time < 4; ++time) {
        CHECK(move_all(descs, UCD_INFO__NULL, UCD_OP__SUM) == UCD_ERR__NOT_SUPPORTED);
        CHECK(last_error_says("moves[0]: backend mock has no SUM"));
    }
    CHECK(mock::counts.launches == 0);
}

// Their buffers are on the device; what is moved begins elsewhere, in the host's memory.
TEST_CASE("the members of a batch are where the first byte of each lies") {
    DeviceSession session;
    Rng rng(4);
    constexpr std::ptrdiff_t members = 20;
    DeviceBuffer typed(rng, {0, 16 * members}, pageable), packed(rng, {0, 16 * members}, device0),
        other(rng, {0, 16 * members + 16}, device0);
    typed.send();
    packed.send();
    // From an address on the device it is as far to where the members begin as from there on.
    const auto from = reinterpret_cast<std::intptr_t>(other.real_base()),
               to = reinterpret_cast<std::intptr_t>(typed.real_base());
    const std::intptr_t odd = (to - from) & 1, start = (to - from - odd) / 2;
    const BuiltType type(recipes::hindexed_block(16, {start}, recipes::leaf(UCD_TYPE__BYTE)));
    MoveList descs;
    for (std::ptrdiff_t i = 0; i < members; ++i) {
        const std::intptr_t buffer = from + odd + start + 16 * i;
        descs.push_back(
            pack_move(reinterpret_cast<void *>(buffer), 1, type.get(), 0, packed.at(16 * i), 16));
        std::copy_n(typed.actual(16 * i), 16, packed.expected(16 * i));
    }
    REQUIRE(move_all(descs) == UCD_SUCCESS);
    packed.fetch();
    CHECK_FALSE(packed.first_difference());
}

TEST_CASE("hints that name no device matter where there is something to move") {
    DeviceSession session;
    StridedMoves moves;
    moves.add(3, device0, device0);
    Keys info({{"ucd.inbuf", hint_for(device0)}});
    const std::string none = std::string(mock::backend.name) + ":99";
    info.set("ucd.outbuf", none);
    MoveList descs = moves.list();
    descs[0].incount = 0;
    CHECK(move_all(descs, info) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("moves[1]: a hint names device 99"));
    ucd_request_t request = UCD_REQUEST__NULL;
    CHECK(ucd_imove(descs.data(), 1, info, UCD_OP__REPLACE, &request) == UCD_SUCCESS);
    CHECK(request == UCD_REQUEST__NULL);
    CHECK(ucd_imove(nullptr, 0, info, UCD_OP__REPLACE, &request) == UCD_SUCCESS);
    CHECK(request == UCD_REQUEST__NULL);
}

TEST_CASE("a member that fails late fails the batch") {
    DeviceSession session;
    StridedMoves moves;
    moves.add(3, device0, pinned);
    moves.add(3, device1, pinned);
    moves.set_up();
    MoveList descs = moves.list();
    ucd_request_t request = UCD_REQUEST__NULL;
    mock::knobs.failing_launch = 2; // the one for the second device; the first is under way
    REQUIRE(start(descs, &request) == UCD_SUCCESS);
    CHECK(ucd_wait(&request) == UCD_ERR__DEVICE);
    check_batch(moves);
}

TEST_CASE("members of one type whose buffers are in different memories") {
    DeviceSession session;
    constexpr std::ptrdiff_t members = 6;
    Rng rng(5);
    const BuiltType type(recipes::vector(8, 1, 2, recipes::leaf(UCD_TYPE__INT)));
    DeviceBuffer here(rng, {0, 64 * members}, device0), there(rng, {0, 64 * members}, device1),
        host(rng, {0, 64 * members}, pageable), packed(rng, {0, 32 * members}, device0);
    DeviceBuffer *const typed[] = {&here, &there, &host};
    MoveList descs;
    for (std::ptrdiff_t i = 0; i < members; ++i) {
        DeviceBuffer &from = *typed[i % 3];
        descs.push_back(pack_move(from.at(64 * i), 1, type.get(), 0, packed.at(32 * i), 32));
        for (std::ptrdiff_t k = 0; k < 8; ++k)
            std::copy_n(from.actual(64 * i + 8 * k), 4, packed.expected(32 * i + 4 * k));
    }
    for (DeviceBuffer *each : typed) each->send();
    packed.send();
    REQUIRE(move_all(descs) == UCD_SUCCESS);
    packed.fetch();
    CHECK_FALSE(packed.first_difference());
}

// However little it is, it may lie where the device of the others does not reach.
TEST_CASE("one member of a single byte, element or repetition in another memory") {
    DeviceSession session;
    const BuiltType type(recipes::vector(8, 1, 2, recipes::leaf(UCD_TYPE__INT)));
    struct Last {
        std::uintptr_t count;
        ucd_type_t type;
        std::size_t bytes;
    };
    for (const Last &last : {Last{1, UCD_TYPE__BYTE, 1}, Last{5, UCD_TYPE__BYTE, 5},
                             Last{1, UCD_TYPE__INT, 4}, Last{4, UCD_TYPE__INT, 1}}) {
        INFO(last.count << " of " << last.bytes << " bytes");
        Rng rng(8);
        DeviceBuffer here(rng, {0, 128}, device0), there(rng, {0, 16}, device1),
            packed(rng, {0, 64 + 16}, pinned);
        MoveList descs = {
            pack_move(here.real_base(), 2, type.get(), 0, packed.real_base(), 64),
            pack_move(there.real_base(), last.count, last.type, 0, packed.at(64), last.bytes)};
        // The second repetition begins at the last int of the first one.
        for (std::ptrdiff_t k = 0; k < 16; ++k)
            std::copy_n(here.actual(k / 8 * 60 + k % 8 * 8), 4, packed.expected(4 * k));
        std::copy_n(there.actual(0), last.bytes, packed.expected(64));
        for (DeviceBuffer *each : {&here, &there, &packed}) each->send();
        REQUIRE(move_all(descs) == UCD_SUCCESS);
        packed.fetch();
        CHECK_FALSE(packed.first_difference());
    }
}

// The members of a single type may lie in several memories as well.
TEST_CASE("members at addresses of their own are moved as far as the range goes") {
    DeviceSession session;
    Rng rng(9);
    // The members lie in different memories, and those of the second repetition behind them.
    DeviceBuffer first(rng, {0, 32}, device0), second(rng, {0, 32}, device1);
    const auto at = [](DeviceBuffer &b) { return reinterpret_cast<std::intptr_t>(b.real_base()); };
    const RecipePtr two = recipes::leaf(UCD_TYPE__INT);
    const BuiltType type(
        recipes::resized(recipes::structure({2, 2}, {at(first), at(second)}, {two, two}), 0, 16));
    for (std::ptrdiff_t length = 1; length <= 32; ++length) {
        INFO(length << " bytes");
        DeviceBuffer packed(rng, {0, 40}, pinned);
        for (std::ptrdiff_t i = 0; i < length; ++i)
            *packed.expected(i) = *(i / 8 % 2 == 0 ? first : second).actual(i / 16 * 16 + i % 8);
        for (DeviceBuffer *each : {&first, &second, &packed}) each->send();
        CHECK(pack_now(nullptr, 2, type.get(), 0, packed.real_base(),
                       static_cast<std::uintptr_t>(length)) == static_cast<std::uintptr_t>(length));
        packed.fetch();
        CHECK_FALSE(packed.first_difference());
    }
}

TEST_CASE("members in two memories of a device, of which its peer reaches one") {
    DeviceSession session;
    mock::knobs.peers = true;
    Rng rng(10);
    DeviceBuffer first(rng, {0, 8}, device0);
    mock::knobs.pools = true;
    DeviceBuffer second(rng, {0, 8}, device0), packed(rng, {0, 16}, device1);
    mock::knobs.pools = false;
    std::vector<std::intptr_t> displs;
    for (DeviceBuffer *each : {&first, &second}) {
        std::copy_n(each->actual(0), 8, packed.expected(8 * static_cast<int>(displs.size())));
        displs.push_back(reinterpret_cast<std::intptr_t>(each->real_base()));
        each->send();
    }
    packed.send();
    const BuiltType type(recipes::hindexed_block(2, displs, recipes::leaf(UCD_TYPE__INT)));
    CHECK(pack_now(nullptr, 1, type.get(), 0, packed.real_base(), 16) == 16);
    packed.fetch();
    CHECK_FALSE(packed.first_difference());
}

TEST_CASE("members of a single byte at the ends of memories") {
    DeviceSession session;
    char *const ends[] = {static_cast<char *>(mock::allocate(ucd::MemoryKind::device, 0, 100)),
                          static_cast<char *>(mock::allocate(ucd::MemoryKind::device, 1, 100))};
    const char bytes[] = {5, 6, 7, 8};
    std::vector<std::intptr_t> displs;
    for (std::size_t i = 0; i < 4; ++i) {
        char *const at = ends[i / 2] + (i % 2 == 0 ? 0 : 99);
        mock::write(at, &bytes[i], 1);
        displs.push_back(reinterpret_cast<std::intptr_t>(at));
    }
    const BuiltType type(recipes::hindexed_block(1, displs, recipes::leaf(UCD_TYPE__BYTE)));
    char packed[4] = {};
    CHECK(pack_now(nullptr, 1, type.get(), 0, packed, 4) == 4);
    CHECK(std::equal(bytes, bytes + 4, packed));
    for (char *memory : ends) mock::release(memory);
}

} // namespace mock_batch_test
