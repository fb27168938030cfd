// What is the GPU backends' own, with devices that are threads of the CPU: launches, lists,
// streams, graphs; of moves and of reductions.
#include "support/buffers/aligned_buffer.hpp"
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/keys.hpp"
#include "support/moves/batch_moves.hpp"
#include "support/moves/graphs.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/strided_move.hpp"
#include "support/refused_calls.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hostgpu_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// For each way that reducing kernels take elements, with lists and without.
std::vector<RecipePtr> forms_of_elements() {
    const RecipePtr number = leaf(UCD_TYPE__DOUBLE), small = leaf(UCD_TYPE__SIGNED_CHAR);
    const RecipePtr record =
        resized(structure({1, 2, 1}, {0, 8, 16}, {number, leaf(UCD_TYPE__INT), small}), 0, 24);
    RecipePtr nest = number;
    std::intptr_t stride = 24;
    for (int i = 0; i < 5; ++i, stride = stride * 3 + 8) nest = hvector(3, 1, stride, nest);
    return {contig(1000, number),
            vector(500, 1, 3, number),
            vector(100, 16, 32, small),
            vector(100, 5, 12, leaf(UCD_TYPE__SHORT)),
            hvector(100, 3, 29, leaf(UCD_TYPE__INT)),
            indexed({3, 1, 2, 4, 1}, {0, 7, 20, 11, 30}, number),
            contig(7, resized(indexed({3, 1, 2}, {0, 7, 20}, number), 0, 400)),
            nest,
            contig(100, record),
            vector(30, 2, 3, record),
            structure({1, 1}, {0, 3 << 20},
                      {vector(70000, 1, 2, leaf(UCD_TYPE__INT)), vector(70000, 1, 2, number)})};
}

struct Moved {
    ucd_op_t op;
    std::vector<RecipePtr> forms;
};
std::vector<Moved> all_moved() {
    return {{UCD_OP__REPLACE, all_forms()}, {UCD_OP__SUM, forms_of_elements()}};
}

// A part of it that a move with its op may move.
DeviceMove part_of(WholeMove &whole) {
    if (whole.op == UCD_OP__REPLACE) return whole.part(whole.bytes() / 3, whole.bytes() / 2);
    const std::size_t elements = whole.what.elements.size();
    const std::size_t from = whole.what.offset_of(elements / 3);
    return whole.part(from, whole.what.offset_of(elements - 1) - from);
}

} // namespace

TEST_CASE("every call is one launch, whatever the layout and the op", "[bulk]") {
    DeviceSession session;
    for (const auto &[op, forms] : all_moved())
        for (const RecipePtr &recipe : forms)
            for (const Memory b : {device0, pinned, managed}) {
                INFO(op_name(op) << " of " << to_text(*recipe) << " to " << name_of(b));
                const std::size_t count = overlaps(byte_map(*recipe, 2)) ? 1 : 2;
                WholeMove whole("one launch", recipe, device0, b, op, count);
                for (const DeviceMove &move : {whole.move(), part_of(whole)}) {
                    mock::counts.launches = mock::counts.copies = 0;
                    check_device_pack(move, "kernel");
                    CHECK(mock::counts.launches + mock::counts.copies == 1);
                    check_device_unpack(move, "kernel");
                    CHECK(mock::counts.launches + mock::counts.copies == 2);
                    if (op != UCD_OP__REPLACE) CHECK(mock::counts.copies == 0);
                }
            }
}

TEST_CASE("ranges beyond 2^32 bytes and elements") {
    DeviceSession session;
    // 2^33 times the same 12 bytes: positions need 37 bits, memory has a few bytes.
    const std::intptr_t many = std::intptr_t{1} << 33;
    const RecipePtr unit = hindexed({4, 8}, {0, 9}, leaf(UCD_TYPE__BYTE));
    for (const bool narrow : {true, false}) {
        // As one level of 2^33, or below a level that the range crosses.
        const BuiltType large(hvector(many, 1, 0, unit));
        Rng rng(5);
        DeviceBuffer in(rng, {0, 3 * 17}, device0), out(rng, {0, 4096}, device0);
        in.send();
        const std::uintptr_t offset = narrow ? 12 * ((std::uintptr_t{1} << 32) + 3) + 5
                                             : 12 * static_cast<std::uintptr_t>(many) - 2000;
        const std::uintptr_t count = narrow ? 1 : 3;
        for (std::uintptr_t i = 0; i < 4000; ++i) {
            const std::uintptr_t element = (offset + i) / 12, at = (offset + i) % 12;
            const std::uintptr_t from = element / static_cast<std::uintptr_t>(many) * 17;
            *out.expected(static_cast<std::intptr_t>(i)) =
                *in.actual(static_cast<std::intptr_t>(from + (at < 4 ? at : at + 5)));
        }
        out.send();
        mock::counts.launches = 0;
        CHECK(pack_now(in.real_base(), count, large.get(), offset, out.real_base(), 4000) == 4000);
        CHECK(mock::counts.launches == 1);
        out.fetch();
        CHECK(out.difference() == "");
    }
}

TEST_CASE("the start of runs that end beyond 2^32 words") {
    DeviceSession session;
    // In words of a byte, the second run ends at a number that is 1016 in 32 bits.
    const std::intptr_t run = (std::intptr_t{1} << 32) + 1008, far = std::intptr_t{1} << 33;
    const RecipePtr recipe = hindexed({8, run, 40, 24, 8, 16},
                                      {0, 16, far, far + 64, far, far + 99}, leaf(UCD_TYPE__BYTE));
    const BuiltType type(recipe);
    constexpr std::intptr_t moved = 2000;
    Rng rng(5);
    for (const std::intptr_t odd : {0, 1}) {
        DeviceBuffer in(rng, {0, moved + 16}, device0), out(rng, {0, moved}, device0);
        for (std::intptr_t i = 0; i < moved; ++i)
            *out.expected(i) = *in.actual(odd + (i < 8 ? i : i + 8));
        in.send();
        out.send();
        pack_now(static_cast<char *>(in.real_base()) + odd, 1, type.get(), 0, out.real_base(),
                 moved);
        out.fetch();
        CHECK(out.difference() == "");
    }
}

TEST_CASE("peers reach each other's memory") {
    for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__SUM}) check_peers_are_reached(op);
}

TEST_CASE("memory with access of its own is not for peers, unless it is for them") {
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    mock::knobs.peers = mock::knobs.pools = true;
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    for (const bool granted : {false, true}) {
        INFO("granted: " << granted);
        mock::knobs.pools_for_peers = granted;
        for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__SUM}) {
            StridedMove move("pools", 700, device0, device1);
            move.op = op;
            mock::counts.launches = mock::counts.copies = 0;
            move.pack_and_check();
            const int work = mock::counts.launches + mock::counts.copies;
            CHECK(granted == (work == 1));
        }
    }
    mock::knobs.peers = mock::knobs.pools = mock::knobs.pools_for_peers = false;
}

TEST_CASE("a call does not wait for the device, with lists to upload or not") {
    DeviceSession session;
    for (const auto &[op, forms] : all_moved())
        for (const RecipePtr &recipe : forms)
            for (const auto &[a, b] : {std::pair{device0, device0}, std::pair{device0, pinned},
                                       std::pair{device1, pageable}, std::pair{pageable, device0}})
                check_returns_at_once(recipe, op, a, b);
}

TEST_CASE("lists are uploaded once, and again after the backend has gone") {
    DeviceSession session;
    WholeMove whole("lists", indexed({3, 1, 2, 4, 1}, {0, 7, 20, 11, 30}, leaf(UCD_TYPE__INT)),
                    device0, device0);
    const auto pack = [&] { check_device_pack(whole.move(), "kernel"); };
    ucd::hostgpu::uploaded_bytes();
    pack();
    CHECK(ucd::hostgpu::uploaded_bytes() > 0);
    pack();
    CHECK(ucd::hostgpu::uploaded_bytes() == 0);
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    CHECK(mock::counts.live_allocations == 0);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    pack();
    CHECK(ucd::hostgpu::uploaded_bytes() > 0);
}

TEST_CASE("types may go after the last ucd_finalize") {
    DeviceSession session;
    {
        StridedMove move("left over", 10, device0, device0);
        WholeMove lists("left over lists", indexed_block(1, {5, 0, 17, 9}, leaf(UCD_TYPE__INT)),
                        device0, device0);
        check_device_pack(lists.move(), "kernel");
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        CHECK(mock::counts.live_allocations == 0);
    }
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

TEST_CASE("memory of lists that have gone is given back when memory runs out") {
    DeviceSession session;
    Case one("given back", 0);
    const auto pack = [&](std::intptr_t entries, const char *uses) {
        Ints displs;
        for (std::intptr_t k = 0; k < entries; ++k) displs.push_back(3 * k + k * k % 1009 % 2);
        const ReducedSubject what =
            with_elements(make_subject(one, indexed_block(1, displs, leaf(UCD_TYPE__INT)), 1));
        const std::size_t size = what.subject.size();
        // Which memory a list is in depends on the alignment, and on the form of the call.
        const auto typed = aligned_buffer(one.rng(), what.subject.range, device0),
                   packed =
                       aligned_buffer(one.rng(), {0, static_cast<std::intptr_t>(size)}, device0);
        const DeviceMove move{one, UCD_OP__REPLACE, what, *typed, *packed, 0, size};
        const Keys kernel({{"ucd.engine", "kernel"}});
        for (const char *use = uses; *use != 0; ++use) {
            set_up_pack(move);
            std::uintptr_t bytes = 0;
            REQUIRE(ucd_pack(typed->real_base(), 1, what.subject.type(), 0, packed->at(0), size,
                             &bytes, kernel, UCD_OP__REPLACE) == UCD_SUCCESS);
            check_result(move);
        }
    };
    // Lists of plans are on the device; lists that are moved once are in memory of tables, which
    // are on the host, too.
    constexpr int of_plan = 1, of_table = 2;
    const auto out_of_memory = [&](std::intptr_t entries, const char *uses, int left) {
        ucd::hostgpu::is_memory_full = true;
        pack(entries, uses);
        CHECK_FALSE(ucd::hostgpu::is_memory_full);
        CHECK(mock::counts.live_allocations == left);
    };
    pack(5000, "1");
    CHECK(mock::counts.live_allocations == of_table);
    out_of_memory(7, "1", of_plan);
    out_of_memory(20000, "1", of_table);
    pack(500, "12"); // twice
    CHECK(mock::counts.live_allocations == of_table + of_plan);
    out_of_memory(7, "1", of_table + of_plan); // the other list would waste most of its memory
}

TEST_CASE("moves in streams, prepared or not") {
    DeviceSession session;
    mock::Stream stream(1);
    for (const auto &[op, forms] : all_moved())
        for (const RecipePtr &recipe : forms) {
            INFO(op_name(op) << " of " << to_text(*recipe));
            WholeMove whole("streams", recipe, device1, pinned, op);
            const DeviceMove move = whole.move();
            for (int round = 0; round < 2; ++round) {
                set_up_pack(move);
                ucd_stream_t of_its_device = native(stream);
                of_its_device.device = -1;
                REQUIRE(pack_in(of_its_device, move) == UCD_SUCCESS);
                finish_in(stream);
                check_result(move);
                set_up_unpack(move);
                REQUIRE(unpack_in(native(stream), move) == UCD_SUCCESS);
                finish_in(stream);
                check_result(move);
                prepare(stream, whole.type(), op);
            }
        }
}

TEST_CASE("a part of one long run is one copy to pinned memory") {
    DeviceSession session;
    // Three runs of a list; three arrays of a struct.
    const RecipePtr d = leaf(UCD_TYPE__DOUBLE);
    for (const RecipePtr &recipe :
         {indexed({10000, 3, 20000}, {0, 15001, 30000}, d),
          structure({10000, 3, 20000}, {0, 100000, 200000}, {d, leaf(UCD_TYPE__INT), d})}) {
        WholeMove whole("one run", recipe, device0, pinned);
        mock::counts.launches = mock::counts.copies = 0;
        check_device_pack(whole.part(4096, 40000));
        CHECK(mock::counts.launches == 0);
        CHECK(mock::counts.copies == 1);
    }
}

TEST_CASE("graphs: captured once the type is prepared, replayed with other data") {
    DeviceSession session;
    mock::Stream stream(0);
    for (const auto &[op, forms] : all_moved())
        for (const RecipePtr &recipe : forms) {
            INFO(op_name(op) << " of " << to_text(*recipe));
            WholeMove whole("graphs", recipe, device0, op == UCD_OP__REPLACE ? device0 : pinned,
                            op);
            check_graphs(stream, whole.move(), [] {});
        }
}

TEST_CASE("a kernel that cannot be loaded fails ucd_prepare") {
    DeviceSession session;
    mock::Stream stream(0);
    const struct {
        RecipePtr recipe;
        std::uintptr_t count;
    } types[] = {
        {vector(200, 17, 24, leaf(UCD_TYPE__BYTE)),
         1}, // for aligned stores
             // A transpose, of so many that one kernel does not do.
        {hvector(40, 1, 4, vector(40, 1, 40, leaf(UCD_TYPE__INT))), std::uintptr_t{1} << 40}};
    (void)ucd::hostgpu::kernels_loaded();
    for (const auto &[recipe, count] : types)
        for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__SUM}) {
            if (op == UCD_OP__SUM && count == 1) continue; // no bytes are added
            int refused = 0, loads = 0;
            for (bool all_called = false; !all_called; ++refused) {
                const BuiltType type(recipe);
                refuse_call(refused + 1);
                const int rc = ucd_prepare(count, type.get(), op, native(stream), UCD_INFO__NULL);
                all_called = !stop_refusing();
                INFO(refused_call() << ": " << ucd_last_error());
                const bool is_load =
                    !all_called && std::string_view(refused_call()).ends_with("FuncGetAttributes");
                loads += is_load;
                if (is_load)
                    CHECK((rc == UCD_ERR__DEVICE || rc == UCD_ERR__OUT_OF_MEM));
                else if (all_called)
                    CHECK(rc == UCD_SUCCESS);
            }
            CHECK(loads > 5);
        }
    CHECK(ucd::hostgpu::kernels_loaded().contains("unpack_aligned_stores"));
}

TEST_CASE("kernels with a cap on their blocks move all of it", "[bulk]") {
    DeviceSession session;
    std::size_t most[3]{}; // blocks of any move, by the cap
    for (const auto &[op, forms] : all_moved())
        for (const RecipePtr &recipe : forms)
            for (const std::size_t cap : {1, 2}) {
                INFO(op_name(op) << " of " << to_text(*recipe) << ", cap " << cap);
                const Keys info({{"ucd.max_blocks", std::to_string(cap)}});
                WholeMove whole("blocks", recipe, device0, cap == 1 ? pinned : device0, op,
                                op == UCD_OP__REPLACE ? 5 : 1);
                (void)ucd::hostgpu::stored_by_blocks();
                whole.pack_and_check(info);
                const std::size_t blocks = ucd::hostgpu::stored_by_blocks().size();
                CHECK(blocks <= cap);
                most[cap] = std::max(most[cap], blocks);
            }
    CHECK(most[1] == 1);
    CHECK(most[2] == 2);
}

TEST_CASE("long moves in words of every width, of one or several vectors a thread", "[bulk]") {
    DeviceSession session;
    std::vector<std::intptr_t> lengths, starts;
    for (std::intptr_t at = 0, i = 0; i < 12; ++i, at += lengths.back() + 3) {
        lengths.push_back(500 + 37 * i);
        starts.push_back(at);
    }
    const RecipePtr number = leaf(UCD_TYPE__DOUBLE), letter = leaf(UCD_TYPE__CHAR);
    const RecipePtr recipes[] = {vector(6000, 1, 2, number),
                                 vector(3000, 2, 5, number),
                                 vector(9000, 1, 3, leaf(UCD_TYPE__INT)),
                                 vector(12000, 1, 3, leaf(UCD_TYPE__SHORT)),
                                 vector(30000, 1, 3, letter),
                                 vector(5000, 5, 7, letter),
                                 hvector(40, 1, 4000, vector(90, 1, 3, number)),
                                 hvector(40, 1, 3001, vector(500, 3, 5, letter)),
                                 indexed(lengths, starts, number),
                                 hvector(3, 1, 100000, indexed(lengths, starts, number))};
    // Buffers are as aligned as it needs in a quarter of the rounds.
    unsigned number_of_case = 0;
    for (unsigned round = 0; round < 16; ++round)
        for (const RecipePtr &recipe : recipes)
            for (const auto &[a, b] : {std::pair{device0, device0}, std::pair{device0, pinned},
                                       std::pair{pinned, device0}}) {
                WholeMove whole("long moves", recipe, a, b, UCD_OP__REPLACE, 1, number_of_case++);
                const std::size_t size = whole.bytes();
                const std::size_t offset = round % 2 == 0 ? 0 : whole.one.rng().below(size / 4);
                const DeviceMove move = whole.part(offset, size - offset);
                check_device_pack(move);
                check_device_unpack(move);
            }
}

TEST_CASE("chunks that are under way at the same time share the cap on blocks") {
    DeviceSession session;
    use_staging(32768, 3);
    for (const auto &[cap, at_once, blocks] : {std::tuple{"1", 1, 5}, std::tuple{"2", 2, 5},
                                               std::tuple{"5", 3, 5}, std::tuple{"6", 3, 10}}) {
        INFO("ucd.max_blocks is " << cap);
        const Keys info({{"ucd.max_blocks", cap}});
        StridedMove move("shared cap", 40000, device0, pageable); // five chunks
        set_up_pack(move.move());
        (void)ucd::hostgpu::stored_by_blocks();
        mock::counts.launches = 0;
        mock::hold();
        REQUIRE(ucd_ipack(move.typed.real_base(), 1, move.type(), 0, move.packed.real_base(),
                          move.bytes(), &move.actual, info, UCD_OP__REPLACE,
                          &move.request) == UCD_SUCCESS);
        CHECK(mock::counts.launches == at_once);
        mock::let_go();
        move.wait_and_check();
        CHECK(ucd::hostgpu::stored_by_blocks().size() == static_cast<std::size_t>(blocks));
    }
}

TEST_CASE("moves to and from host memory leave room for other kernels") {
    constexpr std::size_t ints = 20000, all = (ints * sizeof(int) / 16 + 255) / 256;
    constexpr std::size_t few = 2 * ucd::hostgpu::processors;
    const auto blocks_of = [](StridedMove &move, int rc) {
        REQUIRE(rc == UCD_SUCCESS);
        move.wait_and_check();
        return ucd::hostgpu::stored_by_blocks().size();
    };
    DeviceSession session;
    (void)ucd::hostgpu::stored_by_blocks();
    const Keys info({{"ucd.engine", "kernel"}}); // a copy engine may be the faster one
    for (const auto &[a, b, blocks] :
         {std::tuple{device0, device0, all}, std::tuple{device0, pinned, few},
          std::tuple{pinned, device0, few}}) {
        INFO(name_of(a) << " and " << name_of(b));
        StridedMove move("room", ints, a, b);
        CHECK(blocks_of(move, move.start_pack(info)) == blocks);
        CHECK(blocks_of(move, move.start_unpack(info)) == blocks);
        move.op = UCD_OP__SUM;
        CHECK(blocks_of(move, move.start_unpack()) >= all);
    }
}

TEST_CASE("long double: by the host, where it reaches the result") {
    DeviceSession session;
    if constexpr (sizeof(long double) == sizeof(double)) return;
    constexpr std::size_t count = 100, bytes = count * sizeof(long double);
    DeviceBuffer in(Case("long double", 0).rng(), {0, bytes}, device0);
    std::vector<long double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<long double>(i) / 3;
    mock::write(in.real_base(), values.data(), bytes);
    for (const Memory b : {device0, pageable, pinned, managed})
        for (const bool packs : {true, false}) {
            INFO((packs ? "pack to " : "unpack to ") << name_of(b));
            DeviceBuffer out(Case("long double", 1).rng(), {0, bytes}, b);
            mock::write(out.real_base(), values.data(), bytes);
            const ucd_type_t type = UCD_TYPE__LONG_DOUBLE;
            MoveList moves = {
                packs ? pack_move(in.real_base(), count, type, 0, out.real_base(), bytes)
                      : unpack_move(in.real_base(), bytes, out.real_base(), count, type, 0)};
            const int rc = move_all(moves, UCD_INFO__NULL, UCD_OP__SUM);
            if (b == device0) {
                CHECK(rc == UCD_ERR__NOT_SUPPORTED);
                CHECK(last_error_says("has no SUM for long_double"));
                continue;
            }
            REQUIRE(rc == UCD_SUCCESS);
            std::vector<long double> sums(count);
            mock::read(sums.data(), out.real_base(), bytes);
            for (std::size_t i = 0; i < count; ++i) CHECK(sums[i] == values[i] + values[i]);
        }
}

TEST_CASE("what is prepared for one op is not for another") {
    DeviceSession session;
    mock::Stream stream(0);
    StridedMove move("prepared", 100, device0, device0);
    const auto pack = [&](ucd_op_t op) {
        move.op = op;
        return pack_in(native(stream), move.move());
    };
    prepare(stream, move.type(), UCD_OP__SUM);
    const auto graph = ucd::hostgpu::captured(stream, [&] {
        for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__MAX, UCD_OP__SUM})
            CHECK(pack(op) == (op == UCD_OP__SUM ? UCD_SUCCESS : UCD_ERR__NOT_SUPPORTED));
    });
    CHECK(graph.nodes.size() == 1);
}

} // namespace hostgpu_test
