// How the GPU backends go about copies from layout to layout: launches, kernels, faults.
#include "support/catch.hpp"

#include "support/buffers/aligned_buffer.hpp"
#include "support/host_vendor/capture.h"
#include "support/keys.hpp"
#include "support/moves/batch_moves.hpp"
#include "support/moves/plans.hpp"
#include "support/refused_calls.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace hostgpu_copy_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

struct Copied {
    Case one{"copied", 0};
    ReducedSubject source, target;
    std::unique_ptr<DeviceBuffer> in_memory, out_memory;
    DeviceBuffer &in, &out;

    Copied(const RecipePtr &from, const RecipePtr &to, Memory a = device0, Memory b = device0,
           std::size_t from_count = 1, std::size_t to_count = 1)
        : source(with_elements(make_subject(one, from, from_count, "source"))),
          target(with_elements(make_subject(one, to, to_count, "target"))),
          in_memory(aligned_buffer(one.rng(), source.subject.range, a)),
          out_memory(aligned_buffer(one.rng(), target.subject.range, b)), in(*in_memory),
          out(*out_memory) {}

    DeviceCopy copy() { return {one, UCD_OP__REPLACE, source, in, target, out, {}}; }
    int start(ucd_request_t &request) {
        MoveList moves = {copy_of(copy())};
        return ucdtest::start(moves, &request);
    }

    // The kernels that did it; more than one name if there were more launches.
    std::string run() {
        check_device_copy(copy(), "kernel"); // uploads lists
        (void)ucd::hostgpu::kernels_launched();
        mock::counts.copies = mock::counts.allocations = 0;
        check_device_copy(copy(), "kernel");
        CHECK(mock::counts.allocations == 0);
        const std::string names = ucd::hostgpu::names_launched();
        return mock::counts.copies == 0 ? names : names.empty() ? "copy" : "copy, " + names;
    }
};

const RecipePtr one_double = leaf(UCD_TYPE__DOUBLE);

// n by m doubles of rows with a gap, and their columns one after the other.
RecipePtr rows(std::intptr_t n, std::intptr_t m) {
    return ndarray({n, m}, {8 * (m + 6), 8}, one_double);
}
RecipePtr columns(std::intptr_t n, std::intptr_t m) {
    return ndarray({n, m}, {8, 8 * (n + 2)}, one_double);
}

} // namespace

TEST_CASE("a copy between layouts is one launch, by the kernel that suits both", "[bulk]") {
    DeviceSession session;
    // Long blocks on both sides.
    CHECK(Copied(rows(50, 40), rows(50, 40)).run().starts_with("copy_rows_w16"));
    // The same columns on both sides are rows in another order.
    CHECK(Copied(columns(40, 50), columns(40, 50)).run().starts_with("copy_rows_w16"));
    // Blocks of other lengths, which fit into each other.
    CHECK(Copied(vector(64, 16, 20, one_double), vector(256, 4, 6, one_double))
              .run()
              .starts_with("copy_rows_w"));
    // An array of structs as a struct of arrays, and back.
    const RecipePtr structs = ndarray({4, 1024}, {8, 40}, one_double);
    const RecipePtr arrays = ndarray({4, 1024}, {9000, 8}, one_double);
    CHECK(Copied(structs, arrays).run() == "copy_rows_w8");
    CHECK(Copied(arrays, structs).run() == "copy_rows_w8");
    // What is close on one side is far apart on the other.
    CHECK(Copied(rows(70, 65), columns(70, 65)).run() == "copy_windows_w8");
    CHECK(Copied(columns(70, 65), rows(70, 65)).run() == "copy_windows_w8");
    CHECK(Copied(ndarray({3, 40, 50}, {80000, 8, 400}, one_double), rows(3 * 40, 50)).run() ==
          "copy_windows_w8");
    // Levels that do not fit into each other; lists.
    CHECK(Copied(vector(35, 5, 8, one_double), vector(25, 7, 9, one_double))
              .run()
              .starts_with("copy_places_w"));
    CHECK(Copied(indexed({3, 1, 2, 4, 1}, {0, 7, 20, 11, 30}, one_double),
                 vector(11, 1, 2, one_double))
              .run()
              .starts_with("copy_places_w"));
    // Too mixed for a nest.
    const RecipePtr program = all_forms().back();
    CHECK(Copied(program, vector(105000, 1, 2, one_double)).run() == "copy_interpreters");
    CHECK(Copied(vector(105000, 1, 2, one_double), program).run() == "copy_interpreters");
}

TEST_CASE("a copy between a nest and what is no nest is captured when both types are prepared") {
    DeviceSession session;
    mock::Stream stream(0);
    const RecipePtr program = all_forms().back(), nest = vector(105000, 1, 2, one_double);
    for (const bool from_nest : {true, false}) {
        Copied copied(from_nest ? nest : program, from_nest ? program : nest);
        prepare(stream, copied.source.subject.type());
        prepare(stream, copied.target.subject.type());
        MoveList moves = {copy_of(copied.copy())};
        const ucd::hostgpu::Graph graph = ucd::hostgpu::captured(
            stream, [&] { REQUIRE(start_in(stream, moves) == UCD_SUCCESS); });
        for (int replay = 0; replay < 2; ++replay) {
            set_up_copy(copied.copy());
            ucd::hostgpu::replay(graph, stream);
            finish_in(stream);
            check_result(copied.copy());
        }
    }
}

// The lists of a side are made once, and know no number of repetitions. A copy whose items
// have no gaps did not end where a thread began, or got, to the end of the second one.
TEST_CASE("any number of items without gaps, on one side of a copy that no nest describes",
          "[bulk]") {
    DeviceSession session;
    const RecipePtr program = all_forms().back();
    for (const ucd_type_t element : {UCD_TYPE__INT64_T, UCD_TYPE__INT32_T, UCD_TYPE__BYTE})
        for (std::size_t count = 1; count <= 12; ++count) {
            // Not contiguous by its description: an empty member names a list of the caller's.
            const RecipePtr items =
                structure({1, 1}, {0, 0},
                          {leaf(element), indexed_block_ref(1, {}, UCD_TYPE__UINT64_T, 1, 0, 1,
                                                            leaf(UCD_TYPE__BYTE))});
            const std::string how = Copied(items, program, device0, device0, count).run();
            // What the target's first block takes is one copy.
            CHECK((how == "copy_interpreters" || (how == "copy" && count < 6)));
        }
}

TEST_CASE("a copy between any memories that a device reaches is one launch") {
    DeviceSession session;
    for (const Memory a : {device0, pinned, managed})
        CHECK(Copied(rows(20, 30), columns(20, 30), a, device0).run() == "copy_tiles_w8");
    for (const Memory b : {device1, pinned, managed})
        CHECK(Copied(rows(20, 30), columns(20, 30), device1, b).run() == "copy_tiles_w8");
}

TEST_CASE("peers copy from layout to layout") {
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    mock::knobs.peers = true;
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    CHECK(Copied(rows(20, 30), columns(20, 30), device0, device1).run() == "copy_tiles_w8");
    CHECK(Copied(rows(20, 30), columns(20, 30), device1, device0).run() == "copy_tiles_w8");
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    mock::reset();
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

TEST_CASE("words are as wide as both layouts allow") {
    DeviceSession session;
    CHECK(Copied(vector(40, 10, 12, one_double), vector(80, 5, 6, one_double)).run() ==
          "copy_rows_w8");
    CHECK(Copied(vector(40, 12, 14, one_double), vector(80, 6, 8, one_double)).run() ==
          "copy_rows_w16");
    CHECK(Copied(vector(40, 6, 7, leaf(UCD_TYPE__FLOAT)), vector(80, 3, 5, leaf(UCD_TYPE__FLOAT)))
              .run() == "copy_rows_w4");
}

TEST_CASE("a copy that fills a prefix only") {
    DeviceSession session;
    CHECK(Copied(columns(30, 40), rows(35, 40)).run() == "copy_tiles_w8");
    CHECK(Copied(vector(30, 4, 6, one_double), vector(20, 3, 5, one_double), device0, device0, 1, 3)
              .run()
              .starts_with("copy_"));
}

TEST_CASE("a copy does not wait, and its types may go meanwhile") {
    DeviceSession session;
    Copied c(rows(50, 40), columns(50, 40));
    set_up_copy(c.copy());
    mock::hold();
    ucd_request_t request = UCD_REQUEST__NULL;
    REQUIRE(c.start(request) == UCD_SUCCESS);
    int completed = 1;
    REQUIRE(ucd_test(&request, &completed) == UCD_SUCCESS);
    CHECK(completed == 0);
    c.source.subject.built = BuiltType();
    c.target.subject.built = BuiltType();
    mock::let_go();
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    check_result(c.copy());
}

TEST_CASE("lists of a copy whose types are known stay until it ends") {
    const auto lists = [](std::intptr_t apart) {
        std::vector<std::intptr_t> lengths, places;
        for (std::intptr_t i = 0; i < 100; ++i) {
            lengths.push_back(1 + i % 3);
            places.push_back(i * apart + i % 2);
        }
        return indexed(lengths, places, one_double);
    };
    const Keys hints({{"ucd.inbuf", hint_for(device0)}, {"ucd.outbuf", hint_for(device0)}});
    for (const bool source_goes : {true, false}) {
        DeviceSession session;
        Copied c(lists(5), lists(6)), other(lists(7), lists(8));
        const auto start = [&](const Copied &what, ucd_request_t &request) {
            std::uintptr_t actual;
            return ucd_icopy(what.in.real_base(), 1, what.source.subject.type(),
                             what.out.real_base(), 1, what.target.subject.type(), &actual, hints,
                             UCD_OP__REPLACE, &request);
        };
        ucd_request_t request = UCD_REQUEST__NULL, next = UCD_REQUEST__NULL;
        REQUIRE(start(c, request) == UCD_SUCCESS); // makes the plans
        REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
        set_up_copy(c.copy());
        mock::hold();
        REQUIRE(start(c, request) == UCD_SUCCESS);
        (source_goes ? c.source : c.target).subject.built = BuiltType();
        // Lists that are as long would take over memory that is free.
        mock::counts.allocations = 0;
        REQUIRE(start(other, next) == UCD_SUCCESS);
        CHECK(mock::counts.allocations == 2);
        mock::let_go();
        REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
        REQUIRE(ucd_wait(&next) == UCD_SUCCESS);
        check_result(c.copy());
    }
}

TEST_CASE("a copy with a cap on blocks") {
    DeviceSession session;
    const Keys info({{"ucd.max_blocks", "2"}});
    for (const RecipePtr &to :
         {columns(100, 90), rows(100, 90), indexed({5000, 4000}, {0, 7000}, one_double)}) {
        Copied c(rows(100, 90), to);
        set_up_copy(c.copy());
        (void)ucd::hostgpu::stored_by_blocks();
        CHECK(move_all({copy_of(c.copy())}, info) == UCD_SUCCESS);
        CHECK(ucd::hostgpu::stored_by_blocks().size() == 2);
        check_result(c.copy());
    }
}

namespace {

void check_plan_is_one_launch(std::list<Copied> &copies) {
    MoveList moves;
    for (Copied &each : copies) moves.push_back(copy_of(each.copy()));
    const Plan plan(moves);
    for (Copied &each : copies) set_up_copy(each.copy());
    mock::counts.launches = 0;
    plan.run();
    CHECK(mock::counts.launches == 1);
    for (Copied &each : copies) check_result(each.copy());
}

} // namespace

TEST_CASE("alike copies of a plan are one launch") {
    DeviceSession session;
    for (const RecipePtr &to : {columns(64, 64), rows(64, 64)}) {
        std::list<Copied> copies;
        for (int i = 0; i < 20; ++i) copies.emplace_back(columns(64, 64), to);
        check_plan_is_one_launch(copies);
    }
}

// Pages that an order lists, of `rows` rows each, with a gap after each row and each page.
RecipePtr listed_pages(const std::vector<std::int64_t> &order, std::int64_t rows, std::int64_t row,
                       std::int64_t gap, ucd_type_t index_type) {
    const std::int64_t page = rows * (row + gap) + gap;
    return indexed_block_ref(1, order, index_type, page, 0,
                             static_cast<std::int64_t>(order.size()) * page,
                             hvector(rows, row, row + gap, leaf(UCD_TYPE__BYTE)),
                             copy_in(device0, bytes_of_indices(order, index_type)));
}

std::vector<std::int64_t> any_order(Rng &rng, std::int64_t pages) {
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < pages; ++i) order.push_back(i);
    rng.shuffle(order);
    return order;
}

TEST_CASE("pages by reference on both sides are one launch, with rows of any length", "[bulk]") {
    DeviceSession session;
    Rng rng(7);
    // The second page size is twice the first. A thread moves several words of the longer ones.
    for (const std::int64_t row : {1, 2, 3, 5, 7, 100, 3000})
        for (const std::int64_t bytes : {3000, 600000}) {
            const std::int64_t pages = 2 * (bytes / row / 64 + 1);
            CHECK(Copied(listed_pages(any_order(rng, pages), 32, row, 1, UCD_TYPE__INT32_T),
                         listed_pages(any_order(rng, pages / 2), 64, row, 3, UCD_TYPE__INT64_T))
                      .run() == "copy_places_w1");
        }
    for (const std::int64_t row : {16, 48, 272, 8192})
        CHECK(Copied(listed_pages(any_order(rng, 20), 5, row, 16, UCD_TYPE__UINT64_T),
                     listed_pages(any_order(rng, 10), 10, row, 32, UCD_TYPE__INT32_T))
                  .run() == "copy_places_w16");
    // Rows of one side are longer than those of the other one, or do not fit into each other.
    CHECK(Copied(listed_pages(any_order(rng, 20), 4, 192, 16, UCD_TYPE__INT32_T),
                 listed_pages(any_order(rng, 20), 12, 64, 32, UCD_TYPE__INT32_T))
              .run() == "copy_places_w16");
    CHECK(Copied(listed_pages(any_order(rng, 20), 4, 240, 16, UCD_TYPE__INT32_T),
                 listed_pages(any_order(rng, 20), 10, 96, 32, UCD_TYPE__INT32_T))
              .run() == "copy_places_w16");
}

TEST_CASE("copies of pages by reference are one launch of a plan") {
    DeviceSession session;
    Rng rng(8);
    std::list<Copied> copies;
    for (const std::int64_t row : {16, 64, 256, 1024, 16})
        copies.emplace_back(listed_pages(any_order(rng, 30), 4, row, 16, UCD_TYPE__INT32_T),
                            listed_pages(any_order(rng, 15), 8, row, 48, UCD_TYPE__INT64_T));
    check_plan_is_one_launch(copies);
}

TEST_CASE("each call of the runtime fails once: a copy with lists on both sides") {
    DeviceSession session;
    const RecipePtr from = indexed({3, 1, 2, 4, 1}, {0, 7, 20, 11, 30}, one_double),
                    to = indexed_block(1, {5, 0, 17, 9, 40, 2, 31, 55, 12, 81, 44}, one_double);
    REQUIRE(Copied(from, to).run() == "copy_places_w8");
    int refused = 0;
    for (bool all_called = false; !all_called; ++refused) {
        // No list is on the device.
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        Copied c(from, to);
        set_up_copy(c.copy());
        const std::vector<std::byte> before(c.out.actual(c.target.subject.range.low),
                                            c.out.actual(c.target.subject.range.high));
        refuse_call(refused + 1);
        ucd_request_t request = UCD_REQUEST__NULL;
        int rc = c.start(request);
        const bool started = rc == UCD_SUCCESS, refused_at_start = ucd::hostgpu::failing_call <= 0;
        if (started) rc = ucd_wait(&request);
        all_called = !stop_refusing();
        INFO("call " << refused + 1 << ", " << refused_call() << ": " << ucd_last_error());
        if (rc == UCD_SUCCESS)
            check_result(c.copy());
        else
            CHECK((rc == UCD_ERR__DEVICE || rc == UCD_ERR__OUT_OF_MEM));
        if (started) {
            // What was refused by then was not needed.
            if (refused_at_start) CHECK(rc == UCD_SUCCESS);
            continue;
        }
        c.out.fetch();
        CHECK(std::equal(before.begin(), before.end(), c.out.actual(c.target.subject.range.low)));
    }
    CHECK(refused > 5);
}

} // namespace hostgpu_copy_test
