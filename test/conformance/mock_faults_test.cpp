// Devices that refuse, fail and have no memory: the right status, nothing lost, and life goes on.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/strided_move.hpp"

#include <string>
#include <thread>
#include <utility>

namespace mock_faults_test {

using namespace ucdtest;
using enum ucdtest::Memory;

namespace {

struct Ends {
    Memory typed, packed;
};
constexpr Ends direct_ends[] = {{device0, pinned}, {device1, device1}, {managed, device0}};
constexpr Ends staged_ends[] = {{device0, pageable}, {pageable, device0}, {device0, device1}};

void require_works(const Ends &ends) {
    StridedMove again("after a fault", 500, ends.typed, ends.packed);
    again.pack_and_check();
    again.unpack_and_check();
}

// A call that failed to start anything changes nothing.
void require_untouched(StridedMove &move) {
    CHECK(move.actual == 0);
    CHECK(move.request == UCD_REQUEST__NULL);
    move.typed.fetch();
    move.packed.fetch();
    move.typed.accept();
}

} // namespace

TEST_CASE("a launch that is refused fails the call") {
    for (const bool staged : {false, true})
        for (const Ends &ends : staged ? staged_ends : direct_ends) {
            DeviceSession session;
            StridedMove move("refused", 500, ends.typed, ends.packed);
            mock::knobs.failing_launch = 1;
            CHECK(move.start_pack() == UCD_ERR__DEVICE);
            CHECK(last_error_says("ucd_ipack: mock: the launch failed"));
            const std::vector<std::byte> before(move.packed.actual(0), move.packed.actual(2000));
            require_untouched(move);
            CHECK(std::equal(before.begin(), before.end(), move.packed.actual(0)));
            require_works(ends);
        }
}

TEST_CASE("a launch that is refused later fails the request") {
    for (const Ends &ends : staged_ends) {
        for (int n = 2; n <= 6; ++n) {
            DeviceSession session;
            use_staging(256, 3);
            StridedMove move("refused later", 500, ends.typed, ends.packed);
            mock::knobs.failing_launch = n;
            REQUIRE(move.start_pack() == UCD_SUCCESS);
            REQUIRE(move.request != UCD_REQUEST__NULL);
            CHECK(move.wait() == UCD_ERR__DEVICE);
            CHECK(last_error_says("ucd_wait: mock: the launch failed"));
            CHECK(move.request == UCD_REQUEST__NULL);
            require_works(ends);
        }
    }
}

TEST_CASE("work that fails fails the request, and the blocking call") {
    for (const bool staged : {false, true}) {
        for (const Ends &ends : staged ? staged_ends : direct_ends) {
            for (int n = 1; n <= (staged ? 5 : 1); ++n) {
                DeviceSession session;
                use_staging(256, 3);
                StridedMove move("fails", 500, ends.typed, ends.packed);
                mock::knobs.failing_work = n;
                REQUIRE(move.start_pack() == UCD_SUCCESS);
                int completed = 0, rc = UCD_SUCCESS;
                while (rc == UCD_SUCCESS && !completed) rc = ucd_test(&move.request, &completed);
                CHECK(rc == UCD_ERR__DEVICE);
                CHECK(completed == 1);
                CHECK(last_error_says("ucd_test: mock: the work failed"));
                CHECK(move.request == UCD_REQUEST__NULL);

                mock::knobs.failing_work = n;
                std::uintptr_t actual = 7;
                CHECK(ucd_unpack(move.packed.real_base(), move.bytes(), move.typed.real_base(), 1,
                                 move.type(), 0, &actual, UCD_INFO__NULL,
                                 UCD_OP__REPLACE) == UCD_ERR__DEVICE);
                CHECK(last_error_says("ucd_unpack: mock: the work failed"));
                CHECK(actual == 7);
                require_works(ends);
            }
        }
    }
}

TEST_CASE("waitall tells of the failure that comes first among the requests, and ends all") {
    for (const bool work_first : {false, true}) {
        DeviceSession session;
        use_staging(256, 3);
        StridedMove work("work", 100, device0, pinned), launch("launch", 500, device0, pageable),
            sound("sound", 100, device1, pinned);
        mock::hold();
        REQUIRE(work.start_pack() == UCD_SUCCESS);
        mock::knobs.failing_work = 1;
        mock::let_go();
        while (mock::knobs.failing_work > 0) std::this_thread::yield();
        mock::knobs.failing_launch = 2;
        REQUIRE(launch.start_pack() == UCD_SUCCESS);
        REQUIRE(sound.start_pack() == UCD_SUCCESS);
        ucd_request_t requests[] = {work.request, UCD_REQUEST__NULL, launch.request, sound.request};
        if (!work_first) std::swap(requests[0], requests[2]);
        CHECK(ucd_waitall(4, requests) == UCD_ERR__DEVICE);
        CHECK(last_error_says(work_first ? "ucd_waitall: mock: the work failed"
                                         : "ucd_waitall: mock: the launch failed"));
        for (const ucd_request_t request : requests) CHECK(request == UCD_REQUEST__NULL);
    }
}

TEST_CASE("a failure is told to the request's owner, whoever finds it") {
    DeviceSession session;
    use_staging(256, 2);
    StridedMove failing("failing", 500, device0, pageable), other("other", 500, device0, pageable);
    mock::hold();
    REQUIRE(failing.start_pack() == UCD_SUCCESS);
    REQUIRE(other.start_pack() == UCD_SUCCESS);
    mock::knobs.failing_work = 1;
    mock::let_go();
    REQUIRE(other.wait() == UCD_SUCCESS); // comes upon the failure of the first
    other.check();
    CHECK(ucd_free(nullptr) == UCD_ERR__INVALID_ARG); // another last error
    CHECK(failing.wait() == UCD_ERR__DEVICE);
    CHECK(last_error_says("ucd_wait: mock: the work failed"));
}

TEST_CASE("no memory for a single chunk") {
    for (const Ends &ends : staged_ends) {
        DeviceSession session;
        StridedMove move("no memory", 500, ends.typed, ends.packed);
        mock::knobs.out_of_memory = true;
        CHECK(move.start_pack() == UCD_ERR__OUT_OF_MEM);
        CHECK(last_error_says("ucd_ipack: mock: no 512 bytes"));
        require_untouched(move);
        CHECK(mock::counts.launches == 0);
        CHECK(mock::counts.copies == 0);
        mock::knobs.out_of_memory = false;
        require_works(ends);
    }
}

TEST_CASE("memory for one chunk only") {
    for (const Ends &ends : staged_ends) {
        DeviceSession session;
        use_staging(256, 4);
        StridedMove first("one chunk", 500, ends.typed, ends.packed),
            second("none", 500, ends.typed, ends.packed);
        mock::knobs.failing_allocation = 2;
        mock::hold();
        REQUIRE(first.start_pack() == UCD_SUCCESS);
        REQUIRE(second.start_pack() == UCD_SUCCESS);
        CHECK(mock::counts.live_allocations == 1);
        mock::let_go();
        second.wait_and_check();
        first.wait_and_check();
    }
}

TEST_CASE("no memory for the second chunk of a pair") {
    DeviceSession session;
    mock::knobs.private_pinned = true;
    StridedMove move("relay", 500, device0, device1);
    mock::knobs.failing_allocation = 2;
    CHECK(move.start_pack() == UCD_ERR__OUT_OF_MEM);
    CHECK(mock::counts.launches == 0);
    require_works({device0, device1});
}

TEST_CASE("hints that name what is not there") {
    DeviceSession session;
    StridedMove move("hints", 10, device0, pinned);
    for (const char *place : {"cuda:0", "mock:2"}) {
        for (const char *key : {"ucd.inbuf", "ucd.outbuf"}) {
            const Keys info({{key, place}});
            CHECK(move.start_pack(info) == UCD_ERR__NOT_SUPPORTED);
            CHECK(last_error_says("a hint names"));
        }
    }
}

TEST_CASE("reductions of a type of which a device lacks an element") {
    DeviceSession session;
    Rng rng(6);
    const BuiltType all(recipes::contig(1, recipes::leaf(UCD_TYPE__LONG_DOUBLE))),
        one(recipes::structure(
            {1, 1}, {0, 16}, {recipes::leaf(UCD_TYPE__INT), recipes::leaf(UCD_TYPE__LONG_DOUBLE)}));
    DeviceBuffer in(rng, {0, 64}, device0), out(rng, {0, 64}, device0);
    in.send();
    out.send();
    for (const auto &[type, bytes] : {std::pair{all.get(), 32u}, std::pair{one.get(), 40u}}) {
        MoveList moves = {pack_move(in.real_base(), 2, type, 0, out.real_base(), bytes)};
        CHECK(move_all(moves, UCD_INFO__NULL, UCD_OP__SUM) == UCD_ERR__NOT_SUPPORTED);
        CHECK(last_error_says("backend mock has no SUM for long_double"));
        CHECK(mock::counts.launches == 0);
    }
    CHECK(pack_now(in.real_base(), 2, all.get(), 0, out.real_base(), 32) == 32);
}

TEST_CASE("what a device does with a type is what it does with its elements, of whatever size") {
    DeviceSession session;
    const auto supported = [](ucd_op_t op, ucd_type_t type, const char *backend) {
        int answer = -1;
        REQUIRE(ucd_op_is_supported(op, type, backend, &answer) == UCD_SUCCESS);
        return answer;
    };
    const BuiltType nothing(recipes::contig(0, recipes::leaf(UCD_TYPE__INT)));
    for (const ucd_type_t type : {UCD_TYPE__INT8_T, UCD_TYPE__INT, UCD_TYPE__DOUBLE}) {
        CHECK(supported(UCD_OP__SUM, type, "mock") == 1);
        CHECK(supported(UCD_OP__CONVERT, type, "seq") == 1);
        CHECK(supported(UCD_OP__CONVERT, type, "mock") == 0);
    }
    CHECK(supported(UCD_OP__SUM, nothing.get(), "mock") == 1);
}

TEST_CASE("a plan that cannot be made fails the call") {
    DeviceSession session;
    mock::Stream stream(0);
    for (const Memory b : {device0, pinned, pageable}) {
        StridedMove move("no plan", 500, device0, b);
        mock::knobs.failing_plan = 1;
        CHECK(move.start_pack() == UCD_ERR__DEVICE);
        CHECK(last_error_says("ucd_ipack: mock: the plan failed"));
        require_untouched(move);
    }
    StridedMove in("a copy", 500, device0, pinned), out("to there", 500, device0, pinned),
        streamed("a stream", 500, device0, pinned);
    std::uintptr_t actual = 7;
    for (const int n : {1, 2}) { // of either side
        mock::knobs.failing_plan = n;
        CHECK(ucd_copy(in.typed.real_base(), 1, in.type(), out.typed.real_base(), 1, out.type(),
                       &actual, UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_ERR__DEVICE);
        CHECK(last_error_says("ucd_copy: mock: the plan failed"));
        CHECK(actual == 7);
    }
    mock::knobs.failing_plan = 1;
    CHECK(pack_in(native(stream), streamed.move()) == UCD_ERR__DEVICE);
    CHECK(last_error_says("ucd_pack_stream: mock: the plan failed"));
    CHECK(mock::counts.launches + mock::counts.copies + mock::counts.stream_launches == 0);
    require_works({device0, device0});
}

TEST_CASE("copy engines reduce nothing") {
    DeviceSession session;
    const Keys info({{"ucd.engine", "dma"}});
    for (const auto &[a, b] : {Ends{device0, pinned}, Ends{device0, pageable},
                               Ends{pageable, device1}, Ends{device0, device1}}) {
        StridedMove move("sum by engines", 500, a, b);
        move.op = UCD_OP__SUM;
        CHECK(move.start_pack(info) == UCD_ERR__NOT_SUPPORTED);
        require_untouched(move);
    }
}

TEST_CASE("copy engines take so many blocks of each move, and no more") {
    DeviceSession session;
    const Keys info({{"ucd.engine", "dma"},
                     {"ucd.inbuf", hint_for(device0)},
                     {"ucd.outbuf", hint_for(pinned)}});
    constexpr std::size_t most = 4096;
    Rng rng(5);
    Ints displs;
    for (std::size_t i = 0; i <= most; ++i)
        displs.push_back(static_cast<std::intptr_t>(4 * i + rng.below(3)));
    DeviceBuffer in(rng, {0, 4 * most + 4}, device0), out(rng, {0, most + 1}, pinned);
    const BuiltType type(recipes::indexed_block(1, displs, recipes::leaf(UCD_TYPE__BYTE)));
    for (std::size_t i = 0; i < most; ++i)
        *out.expected(static_cast<std::intptr_t>(i)) = *in.actual(displs[i]);
    in.send();
    out.send();
    // The second member has all of the blocks.
    for (const int members : {1, 2})
        for (const std::size_t bytes : {most + 1, most}) {
            MoveList packs(static_cast<std::size_t>(members),
                           pack_move(in.real_base(), 1, type.get(), 0, out.real_base(), 10));
            packs.back().outcount = bytes;
            mock::counts.launches = 0;
            CHECK(move_all(packs, info) == (bytes > most ? UCD_ERR__NOT_SUPPORTED : UCD_SUCCESS));
            if (bytes > most) {
                CHECK(last_error_says(members == 1 ? "4096"
                                                   : "moves[1]: ucd.engine is dma, which takes up "
                                                     "to 4096"));
                CHECK(mock::counts.launches == 0);
                continue;
            }
            out.fetch();
            CHECK_FALSE(out.first_difference());
            out.randomise(rng);
            for (std::size_t i = 0; i < most; ++i)
                *out.expected(static_cast<std::intptr_t>(i)) = *in.actual(displs[i]);
            out.send();
        }
    // A copy from layout to layout is refused for either side.
    const Keys dma({{"ucd.engine", "dma"}});
    const BuiltType other(recipes::vector(most + 1, 1, 2, recipes::leaf(UCD_TYPE__BYTE)));
    DeviceBuffer apart(rng, {0, 2 * most + 2}, device1);
    for (const ucd_move_t &copy :
         {copy_move(in.real_base(), 1, type.get(), apart.real_base(), 1, other.get()),
          copy_move(apart.real_base(), 1, other.get(), in.real_base(), 1, type.get())}) {
        CHECK(move_all({copy}, dma) == UCD_ERR__NOT_SUPPORTED);
        CHECK(last_error_says("4096"));
    }
}

} // namespace mock_faults_test
