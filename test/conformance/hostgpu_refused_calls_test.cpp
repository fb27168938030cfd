// Each call of a vendor's runtime, or of CUDA's driver, fails once, in each function that reaches a
// device: streams, events, launches, copies, memory, queries. The function or its request says so,
// or has done its work all the same; nothing is under way behind a call that failed; the next call
// is right; and in the end all is given back.
#include "support/catch.hpp"

#include "support/moves/device_calls.hpp"
#include "support/refused_calls.hpp"

#include <ucd_memory.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

namespace hostgpu_refused_calls_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using namespace ucd;
using enum ucdtest::Memory;

namespace {

// On a stream of the program's. With the library started anew, too, no stream, event, list or
// table is there yet.
struct Fresh {
    OwnStream stream;
    FreshMove move;

    Fresh(const RecipePtr &recipe, Memory a, Memory b, ucd_op_t op)
        : move(recipe, a, b, op, stream.native()) {}
    // Whatever the call before has left.
    void check_call(const MoveFunction &function) {
        function.set_up(move);
        REQUIRE(function.call(move) == UCD_SUCCESS);
        REQUIRE(move.wait() == UCD_SUCCESS);
        stream.synchronise();
        move.check();
    }
};

bool is_documented(int rc) {
    return rc == UCD_ERR__DEVICE || rc == UCD_ERR__OUT_OF_MEM;
}

// Pinned memory of which the driver tells nothing is as good as pageable, which streams refuse.
bool is_taken_for_pageable(const Fresh &f, const MoveFunction &function, int rc) {
    return rc == UCD_ERR__NOT_SUPPORTED && function.in_stream &&
           f.move.packed.memory() == Memory::pinned && tells_of_memory(refused_call());
}

// Nothing of the backend's is alive while the library is down.
void start_anew() {
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    check_all_is_given_back();
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    use_staging(512, 3);
}

// False: there is no n-th call.
bool refuse_one(const MoveFunction &function, const RecipePtr &recipe, Memory a, Memory b,
                ucd_op_t op, int n) {
    start_anew();
    Fresh f(recipe, a, b, op);
    function.set_up(f.move);
    refuse_call(n);
    int rc = function.call(f.move);
    if (rc == UCD_SUCCESS) {
        rc = f.move.wait();
        CHECK(f.move.request == UCD_REQUEST__NULL);
        const bool all_called = !stop_refusing();
        f.stream.synchronise();
        if (rc == UCD_SUCCESS)
            f.move.check();
        else
            CHECK((is_documented(rc) && !all_called));
        // A vendor's function that tells of the stream's work may fail: then that goes on.
        std::this_thread::sleep_for(std::chrono::milliseconds(rc == UCD_SUCCESS ? 0 : 2));
        f.check_call(function);
        return !all_called;
    }
    stop_refusing();
    INFO(refused_call() << ": " << rc);
    CHECK((is_documented(rc) || is_taken_for_pageable(f, function, rc)));
    const std::vector<std::byte> at_return = f.move.contents();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    f.stream.synchronise();
    CHECK((f.move.contents() == at_return));
    f.check_call(function);
    return true;
}

struct Ends {
    Memory typed, packed;
};

const RecipePtr a_double = leaf(UCD_TYPE__DOUBLE);
const RecipePtr strided_doubles = vector(320, 1, 3, a_double);
const RecipePtr listed_doubles = indexed({30, 10, 20, 40, 220}, {0, 70, 200, 110, 300}, a_double);

int calls_refused = 0;

void refuse_each(const MoveFunction &function, const RecipePtr &recipe, const Ends &ends,
                 ucd_op_t op) {
    // Where not all random cases are run, some of the calls; of each function other ones.
    const int step = static_cast<int>(std::ceil(1 / std::clamp(case_factor(), 0.2, 1.0)));
    for (int n = 1 + calls_refused % step;; n += step) {
        INFO(function.name << " of " << to_text(*recipe) << ", " << op_name(op) << ", "
                           << name_of(ends.typed) << " and " << name_of(ends.packed) << ", call "
                           << n << " of the runtime");
        REQUIRE(n < 2000); // some 500 for each device where a driver loads each kernel by a call
        if (!refuse_one(function, recipe, ends.typed, ends.packed, op, n)) return;
        ++calls_refused;
    }
}

} // namespace

TEST_CASE("each call of the runtime fails once: moves between memories that one device reaches",
          "[bulk]") {
    DeviceSession session;
    for (const MoveFunction &function : move_functions)
        for (const RecipePtr &recipe : {strided_doubles, listed_doubles})
            for (const Ends ends : {Ends{device0, device0}, Ends{device0, pinned}})
                for (const ucd_op_t op :
                     std::initializer_list<ucd_op_t>{UCD_OP__REPLACE, UCD_OP__SUM})
                    refuse_each(function, recipe, ends, op);
    CHECK(calls_refused > 100);
}

TEST_CASE("each call of the runtime fails once: moves through chunks", "[bulk]") {
    DeviceSession session;
    for (const MoveFunction &function : move_functions)
        for (const Ends ends :
             {Ends{device0, pageable}, Ends{pageable, device0}, Ends{device0, device1}})
            if (!function.in_stream)
                for (const ucd_op_t op :
                     std::initializer_list<ucd_op_t>{UCD_OP__REPLACE, UCD_OP__SUM})
                    refuse_each(function, strided_doubles, ends, op);
}

TEST_CASE("each call of the runtime fails once: when all is given back") {
    DeviceSession session;
    for (int n = 1; n < 500; ++n) {
        INFO("call " << n << " of the runtime");
        start_anew();
        Fresh f(listed_doubles, device0, pageable, UCD_OP__REPLACE),
            g(listed_doubles, device0, device0, UCD_OP__REPLACE);
        for (Fresh *each : {&f, &g}) each->check_call(move_functions[0]);
        refuse_call(n);
        // The types' lists are on the device.
        f.move.free_type();
        g.move.free_type();
        const int rc = ucd_finalize();
        const bool all_called = !stop_refusing();
        CHECK((rc == UCD_SUCCESS || rc == UCD_ERR__INTERNAL));
        if (rc != UCD_SUCCESS) CHECK(!all_called);
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        start_anew();
        if (all_called) return;
    }
    FAIL("no end");
}

TEST_CASE("each call of the runtime fails once: memory of the library's, and of other processes") {
    DeviceSession session;
    const std::string device = hint_for(device0);
    void *first = nullptr; // what a driver is asked once in a process is asked now
    REQUIRE(ucd_memory_alloc(device.c_str(), UCD_MEMORY__DEVICE, 1, &first) == UCD_SUCCESS);
    REQUIRE(ucd_memory_free(first) == UCD_SUCCESS);
    for (int n = 1; n < 200; ++n) {
        INFO("call " << n << " of the runtime");
        start_anew();
        void *memory = nullptr, *pinned_memory = nullptr, *opened = nullptr;
        ucd_ipc_handle_t handle;
        std::uintptr_t bytes = 0;
        refuse_call(n);
        int rcs[] = {ucd_memory_alloc(device.c_str(), UCD_MEMORY__DEVICE, 1000, &memory),
                     ucd_memory_alloc(device.c_str(), UCD_MEMORY__PINNED, 1000, &pinned_memory),
                     UCD_SUCCESS,
                     UCD_SUCCESS,
                     UCD_SUCCESS,
                     UCD_SUCCESS,
                     UCD_SUCCESS};
        if (memory != nullptr) rcs[2] = ucd_ipc_export(memory, 1000, &handle);
        if (memory != nullptr && rcs[2] == UCD_SUCCESS)
            rcs[3] = ucd_ipc_open(&handle, device.c_str(), &opened, &bytes);
        if (opened != nullptr) rcs[4] = ucd_ipc_close(opened);
        rcs[5] = ucd_memory_free(memory);
        rcs[6] = ucd_memory_free(pinned_memory);
        const bool all_called = !stop_refusing();
        int failed = 0;
        INFO(refused_call() << ", " << ucd_last_error());
        for (const int &rc : rcs) {
            INFO(ucd_strerror(rc));
            // A driver that will not share memory again, by which an open handle of this process is
            // compared, is taken to say that the memory is gone: CORRUPT.
            CHECK((rc == UCD_SUCCESS || is_documented(rc) || rc == UCD_ERR__INTERNAL ||
                   (rc == UCD_ERR__CORRUPT && &rc == &rcs[3])));
            failed += rc != UCD_SUCCESS;
        }
        CHECK(failed <= (all_called ? 0 : 1));
        CHECK((memory == nullptr) == (rcs[0] != UCD_SUCCESS));
        if (all_called) return;
    }
    FAIL("no end");
}

TEST_CASE("the library ends with work under way, whose requests nobody has waited for") {
    DeviceSession session;
    for (const bool waits_afterwards : {true, false}) {
        for (const Ends ends :
             {Ends{device0, device0}, Ends{device0, pageable}, Ends{device0, device1}}) {
            start_anew();
            const OwnStream stream; // says that the test has memory of its own
            std::vector<std::unique_ptr<WholeMove>> moves;
            mock::knobs.delay_us = 500;
            for (int i = 0; i < 8; ++i) {
                WholeMove &f = *moves.emplace_back(std::make_unique<WholeMove>(
                    "left", i % 2 == 0 ? strided_doubles : listed_doubles, ends.typed,
                    ends.packed));
                REQUIRE(f.start_pack() == UCD_SUCCESS);
                // A GPU, whose work cannot be delayed, may be done already.
                if (std::string(mock::backend.name) == "hostgpu")
                    REQUIRE(f.request != UCD_REQUEST__NULL);
                f.free_type(); // its handle is free at once
            }
            REQUIRE(ucd_finalize() == UCD_SUCCESS);
            mock::knobs.delay_us = 0;
            check_all_is_given_back();
            for (const auto &f : moves) {
                f->check(); // the work is done
                if (waits_afterwards) CHECK(ucd_wait(&f->request) == UCD_SUCCESS);
            }
            REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
            // After the next start, too.
            for (const auto &f : moves) CHECK(ucd_wait(&f->request) == UCD_SUCCESS);
        }
    }
}

} // namespace hostgpu_refused_calls_test
