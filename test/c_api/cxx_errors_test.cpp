// ucd.hpp: errors as exceptions or as values, for every function; and those functions that
// cxx_wrapper_test does not call.
#include "support/catch.hpp"

#include "support/moves/move_list.hpp"

#include <ucd.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace cxx_errors_test {

namespace {

const ucd_type_t none = UCD_TYPE__NULL;

// The same failure by both policies: `fails` takes a policy's value.
template <class F>
void check_refusal(const F &fails, int code, const std::string &words) {
    INFO(words);
    const auto result = fails(ucd::as_value());
    CHECK(!result);
    CHECK(result.code() == code);
    CHECK(std::string(result.message()).find(words) != std::string::npos);
    try {
        (void)fails(ucd::throwing());
        FAIL("nothing was thrown");
    } catch (const ucd::Error &e) {
        CHECK(e.code() == code);
        CHECK(std::string(e.what()) == result.message());
    }
}

#define REFUSAL(call, code, words)                                                                 \
    check_refusal([&]<class P>(P) -> decltype(auto) { return call; }, code, words)

} // namespace

TEST_CASE("constructors refuse by exception or by value") {
    using ucd::Type;
    constexpr int invalid = UCD_ERR__INVALID_ARG;
    const ucd_type_t d = UCD_TYPE__DOUBLE;
    REFUSAL(Type::contig<P>(-1, d), invalid, "ucd_create_contig: count is -1");
    REFUSAL(Type::dup<P>(none), invalid, "ucd_create_dup");
    REFUSAL(Type::vector<P>(1, -2, 1, d), invalid, "blocklength is -2");
    REFUSAL(Type::hvector<P>(-1, 2, 1, d), invalid, "ucd_create_hvector");
    REFUSAL(Type::indexed_block<P>(-1, {0}, d), invalid, "ucd_create_indexed_block");
    REFUSAL(Type::hindexed_block<P>(-1, {0}, d), invalid, "ucd_create_hindexed_block");
    REFUSAL(Type::indexed_block_ref<P>(-1, 1, nullptr, UCD_TYPE__INT32_T, 1, 0, 8, d), invalid,
            "ucd_create_indexed_block_ref");
    REFUSAL(Type::indexed<P>({-1}, {0}, d), invalid, "ucd_create_indexed");
    REFUSAL(Type::hindexed<P>({-1}, {0}, d), invalid, "ucd_create_hindexed");
    REFUSAL(Type::structure<P>({1}, {0}, {none}), invalid, "ucd_create_struct");
    REFUSAL(Type::subarray<P>({4}, {5}, {0}, UCD_ORDER__C, d), invalid, "ucd_create_subarray");
    REFUSAL(Type::darray<P>(2, 2, {4}, {UCD_DISTRIBUTE__BLOCK}, {UCD_DISTRIBUTE__DFLT_DARG}, {2},
                            UCD_ORDER__C, d),
            invalid, "ucd_create_darray");
    REFUSAL(Type::ndarray<P>({-1}, {8}, d), invalid, "ucd_create_ndarray");
    REFUSAL(Type::resized<P>(none, 0, 1), invalid, "ucd_create_resized");
    const std::string differ = "arrays of one call differ in length: ";
    REFUSAL(Type::indexed<P>({1, 2}, {0}, d), invalid, differ + "blocklengths has 2, displs has 1");
    REFUSAL(Type::hindexed<P>({1, 2}, {0}, d), invalid,
            differ + "blocklengths has 2, displs has 1");
    REFUSAL(Type::structure<P>({1}, {0}, {d, d}), invalid,
            differ + "blocklengths has 1, displs has 1, types has 2");
    REFUSAL(Type::subarray<P>({4}, {1, 1}, {0}, UCD_ORDER__C, d), invalid,
            differ + "sizes has 1, subsizes has 2, starts has 1");
    REFUSAL(Type::darray<P>(2, 2, {4}, {UCD_DISTRIBUTE__BLOCK}, {1}, {2, 1}, UCD_ORDER__C, d),
            invalid, differ + "gsizes has 1, distribs has 1, dargs has 1, psizes has 2");
    REFUSAL(Type::ndarray<P>({1}, {8, 8}, d), invalid, differ + "shape has 1, byte_strides has 2");
}

TEST_CASE("queries and moves refuse by exception or by value") {
    constexpr int invalid = UCD_ERR__INVALID_ARG;
    const ucd::TypeRef no(none), d(UCD_TYPE__DOUBLE);
    REFUSAL(no.size<P>(), invalid, "ucd_get_size");
    REFUSAL(no.extent<P>(), invalid, "ucd_get_extent");
    REFUSAL(no.true_extent<P>(), invalid, "ucd_get_true_extent");
    REFUSAL(no.layout<P>(), invalid, "ucd_get_layout");
    REFUSAL(no.advice<P>(), invalid, "ucd_get_advice");
    REFUSAL(no.describe<P>(), invalid, "ucd_describe");
    REFUSAL(ucd::supports<P>(UCD_OP__SUM, d, "abacus"), invalid, "abacus");

    double in[4] = {}, out[4] = {};
    uintptr_t moved = 0;
    REFUSAL(ucd::pack<P>(in, 1, d, out, 9), invalid, "ucd_pack");
    REFUSAL(ucd::unpack<P>(in, out, 1, d, 9), invalid, "ucd_unpack");
    REFUSAL(ucd::packed<P>(in, 1, no), invalid, "ucd_get_layout");
    REFUSAL(ucd::copy<P>(in, 2, d, out, 1, d), UCD_ERR__TRUNCATED, "ucd_copy");
    REFUSAL(ucd::ipack<P>(in, 1, d, out, moved, 9), invalid, "ucd_ipack");
    REFUSAL(ucd::iunpack<P>(in, out, 1, d, moved, 9), invalid, "ucd_iunpack");
    REFUSAL(ucd::icopy<P>(in, 2, d, out, 1, d, moved), UCD_ERR__TRUNCATED, "ucd_icopy");
    ucdtest::MoveList moves(1);
    moves[0].reserved[0] = 1;
    REFUSAL(ucd::imove<P>(moves), invalid, "ucd_imove");
    CHECK(ucd::move_all<ucd::as_value>(moves).code() == invalid);
    CHECK_THROWS_AS(ucd::move_all(moves), ucd::Error);
    REFUSAL(ucd::MovePlan::of<P>(moves), invalid, "ucd_plan_create");
    ucd::MovePlan no_plan;
    CHECK_FALSE(no_plan);
    REFUSAL(no_plan.start<P>(), invalid, "ucd_plan_start");
    CHECK(no_plan.rebase<ucd::as_value>(0, {in}, {out}).code() == invalid);
    REFUSAL(no_plan.rebase<P>(0, {in, in}, {out}), invalid,
            "differ in length: inbufs has 2, outbufs has 1");
    CHECK_THROWS_AS(no_plan.rebase_inputs(0, {in}), ucd::Error);
    CHECK_THROWS_AS(no_plan.rebase_outputs(0, {out}), ucd::Error);

    // This build may have no backend with streams; a stream without a name never works.
    const ucd_stream_t stream{};
    REFUSAL(ucd::pack<P>(stream, in, 1, d, out), invalid, "ucd_pack_stream");
    REFUSAL(ucd::unpack<P>(stream, in, out, 1, d), invalid, "ucd_unpack_stream");
    REFUSAL(ucd::copy<P>(stream, in, 1, d, out, 1, d), invalid, "ucd_copy_stream");
    CHECK(ucd::move_all<ucd::as_value>(stream, moves).code() == invalid);
    CHECK_THROWS_AS(no_plan.start(stream), ucd::Error);
    CHECK(ucd::prepare<ucd::as_value>(1, d, stream).code() == invalid);
    CHECK_THROWS_AS(ucd::prepare(1, d, stream), ucd::Error);

    REFUSAL(ucd::iov_len<P>(1, no), invalid, "ucd_iov_len");
    REFUSAL(ucd::iov<P>(in, 1, no), invalid, "ucd_iov_len");
    std::array<iovec, 2> entries;
    REFUSAL(ucd::iov<P>(in, 1, d, 5, entries), invalid, "ucd_iov");
    REFUSAL(ucd::iov_bytes<P>(in, 1, d, 9, 1, entries), invalid, "ucd_iov_bytes");
    REFUSAL(ucd::iov_len_max<P>(1, no, 1), invalid, "ucd_iov_len_max");
    REFUSAL(ucd::boxes<P>(1, no), invalid, "ucd_get_boxes");
    std::array<ucd_box_t, 2> boxes;
    REFUSAL(ucd::boxes<P>(1, d, 5, boxes), invalid, "ucd_get_boxes");
    REFUSAL(ucd::box_count<P>(1, no), invalid, "ucd_get_boxes");
    REFUSAL(ucd::element_runs<P>(1, no), invalid, "ucd_get_element_runs");
    std::array<ucd_element_run_t, 2> runs;
    REFUSAL(ucd::element_runs<P>(1, d, 5, runs), invalid, "ucd_get_element_runs");
    REFUSAL(ucd::element_run_count<P>(1, no), invalid, "ucd_get_element_runs");
    REFUSAL(ucd::elements<P>(1, d, 9), invalid, "ucd_get_elements");
    REFUSAL(ucd::element_boundary<P>(1, d, 9), invalid, "ucd_element_boundary");
    REFUSAL(ucd::flattened_size<P>(in), UCD_ERR__CORRUPT, "ucd_flattened_size");
    REFUSAL(ucd::flatten<P>(no), invalid, "ucd_flatten_size");
    REFUSAL(ucd::unflatten<P>(in), UCD_ERR__CORRUPT, "ucd_unflatten");
    ucd::Info info;
    CHECK(info.set<ucd::as_value>("ucd.threads", "none").code() == invalid);
}

TEST_CASE("results hold values that move") {
    auto made = ucd::Type::contig<ucd::as_value>(3, UCD_TYPE__INT);
    REQUIRE(made);
    CHECK(made.code() == UCD_SUCCESS);
    CHECK(std::string(made.message()).empty());
    CHECK(made->size() == 12);
    const ucd::Type type = std::move(made).value();
    CHECK(type);
    CHECK((*type.size<ucd::as_value>()) == 12);
    CHECK(type.size<ucd::as_value>().value_or(0) == 12);
    CHECK(ucd::TypeRef(none).size<ucd::as_value>().value_or(77) == 77);
    const auto failed = ucd::TypeRef(none).size<ucd::as_value>();
    CHECK_THROWS_AS(failed.value(), ucd::Error);
    static_assert(std::is_void_v<decltype(std::declval<ucd::Request>().wait())>);
}

TEST_CASE("sessions and infos as values") {
    auto session = ucd::Session::start<ucd::as_value>();
    REQUIRE(session);
    const ucd::Session moved = std::move(*session);
    auto info = ucd::Info::create<ucd::as_value>();
    REQUIRE(info);
    REQUIRE(info->set<ucd::as_value>("ucd.backends", "abacus").code() != UCD_SUCCESS);
    // The library is still up: neither a failure nor a move has taken it down.
    CHECK(ucd::TypeRef(UCD_TYPE__INT).size() == 4);
}

TEST_CASE("moves and plans of moves") {
    const std::array<double, 6> data{0, 1, 2, 3, 4, 5}, later{6, 7, 8, 9, 10, 11};
    const ucd::Type even = ucd::Type::vector(3, 1, 2, UCD_TYPE__DOUBLE);
    std::array<double, 3> packed{};
    std::array<double, 6> copied{}, elsewhere{};
    ucdtest::MoveList moves{
        ucdtest::pack_move(data.data(), 1, even.get(), 0, packed.data(), 24),
        ucdtest::copy_move(data.data(), 1, even.get(), copied.data(), 1, even.get())};
    ucd::move_all(moves);
    CHECK(packed == std::array<double, 3>{0, 2, 4});
    CHECK(copied == std::array<double, 6>{0, 0, 2, 0, 4, 0});
    CHECK(moves[1].actual_bytes == 24);
    ucd::MovePlan plan = ucd::MovePlan::of(moves, UCD_OP__SUM);
    REQUIRE(plan);
    ucd::imove(moves).wait();
    plan.start().wait();
    CHECK(packed == std::array<double, 3>{0, 4, 8});
    plan.rebase(1, {later.data()}, {elsewhere.data()});
    ucd::MovePlan moved = std::move(plan);
    CHECK_FALSE(plan);
    moved.start().wait();
    CHECK(packed == std::array<double, 3>{0, 6, 12});
    CHECK(elsewhere == std::array<double, 6>{6, 0, 8, 0, 10, 0});
    moved.rebase_inputs(0, {later.data()});
    moved.rebase_outputs(1, {copied.data()});
    moved.start().wait();
    CHECK(packed == std::array<double, 3>{6, 14, 22});
    ucd_plan_t owned = moved.release();
    CHECK(ucd_plan_free(&owned) == UCD_SUCCESS);
}

TEST_CASE("batches, requests and parts of segments") {
    const std::array<double, 6> data{0, 1, 2, 3, 4, 5};
    const ucd::Type even = ucd::Type::vector(3, 1, 2, UCD_TYPE__DOUBLE);
    std::array<double, 3> first{}, second{};
    ucdtest::MoveList packs = {
        ucdtest::pack_move(data.data(), 1, even.get(), 0, first.data(), 24),
        ucdtest::pack_move(data.data() + 1, 1, even.get(), 0, second.data(), 24)};
    std::vector<ucd::Request> requests;
    requests.push_back(ucd::imove(packs));
    uintptr_t moved = 0;
    std::array<double, 6> back{};
    requests.push_back(ucd::iunpack(first, back.data() + 1, 1, even, moved));
    ucd::wait_all(requests);
    CHECK(requests[0].get() == UCD_REQUEST__NULL);
    CHECK(first == std::array<double, 3>{0, 2, 4});
    CHECK(second == std::array<double, 3>{1, 3, 5});
    CHECK(packs[1].actual_bytes == 24);

    ucd_move_t unpack = UCD_MOVE__INIT;
    unpack.inbuf = second.data();
    unpack.incount = 24;
    unpack.outbuf = back.data();
    unpack.outcount = 1;
    unpack.outtype = even.get();
    ucd::imove({&unpack, 1}).wait();
    CHECK(unpack.consumed_bytes == 24);
    CHECK(back == std::array<double, 6>{1, 0, 3, 2, 5, 4});

    CHECK(ucd::iov_len(2, even) == 5); // the second begins where the first ends
    const ucd::IovPrefix prefix = ucd::iov_len_max(1, even, 17);
    CHECK(prefix.segments == 2);
    CHECK(prefix.bytes == 16);
    std::array<iovec, 4> entries;
    const auto cut = ucd::iov_bytes(data.data(), 1, even, 4, 8, entries);
    REQUIRE(cut.size() == 2);
    CHECK(cut[0].iov_len == 4);
    CHECK(cut[1].iov_base == &data[2]);

    const ucd::Type far = ucd::Type::hindexed_block(1, {0, 104, 248, 304}, even);
    CHECK(ucd::box_count(2, far) == 4);
    const auto boxes = ucd::boxes(2, far);
    REQUIRE(boxes.size() == 4);
    CHECK(boxes[1].offset == 48);
    std::array<ucd_box_t, 4> some_boxes;
    CHECK(ucd::boxes(2, far, 1, some_boxes).size() == 3);
    CHECK(ucd::element_run_count(2, even) == 1);
    const auto runs = ucd::element_runs(2, even);
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].elements == 6);
    std::array<ucd_element_run_t, 4> some_runs;
    CHECK(ucd::element_runs(2, even, 1, some_runs).empty());
    CHECK(ucd::elements(2, even, 15) == 1);
    CHECK(ucd::element_boundary(2, even, 15) == 8);
    const auto flat = ucd::flatten(even);
    CHECK(ucd::flattened_size(flat) == flat.size());

    CHECK(ucd::supports(UCD_OP__SUM, even, "seq"));
    CHECK(!ucd::supports(UCD_OP__BAND, even, "seq"));
    const auto list = ucd::backends();
    REQUIRE(!list.empty());
    CHECK(std::string(list[0].name) == "seq");
    CHECK(list[0].available == 1);
    CHECK(ucd::version().minor == UCD_VERSION_MINOR);
}

} // namespace cxx_errors_test
