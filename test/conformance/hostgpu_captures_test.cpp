// While a stream is captured in mode Global, calls end the capture that a driver refuses meanwhile:
// see support/host_vendor/captures.cpp. And what captured calls need and leave behind.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/moves/batch_calls.hpp"
#include "support/moves/calls.hpp"

#include <ucd_memory.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <string>
#include <thread>

namespace hostgpu_captures_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using ucd::hostgpu::captured;
using enum ucdtest::Memory;

namespace {

RecipePtr list_of(std::intptr_t first) {
    return indexed_block(1, {first, first + 2, first + 7, first + 3}, leaf(UCD_TYPE__DOUBLE));
}

// Lists that are new, in a batch for several threads.
void pack_in_threads(std::intptr_t first) {
    constexpr std::size_t members = 65536, kinds = 8;
    Case one("beside captures", 0);
    std::list<Subject> subjects;
    BatchMoves moves{one};
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        const auto displacement = first + static_cast<std::intptr_t>(kind);
        const Subject &s = subjects.emplace_back(make_subject(one, list_of(displacement), 1));
        for (std::size_t i = 0; i < members / kinds; ++i) moves.add(s, 0, s.size());
    }
    moves.allocate(device0, device0);
    moves.set_up_pack();
    REQUIRE(move_all(moves.packs(), Hints(false, "2")) == UCD_SUCCESS);
    moves.check("beside a capture");
}

void allocate_memory() {
    for (const int kind : {UCD_MEMORY__DEVICE, UCD_MEMORY__PINNED}) {
        void *memory = nullptr;
        REQUIRE(ucd_memory_alloc(hint_for(device0).c_str(), kind, 4096, &memory) == UCD_SUCCESS);
        CHECK(ucd_memory_free(memory) == UCD_SUCCESS);
    }
}

void share_memory() {
    const ucd::Owner<ucd::Backend> backend = ucd::hostgpu::make_backend();
    Rng rng(1);
    DeviceBuffer memory(rng, {0, 1000}, device0);
    ucd::MemoryHandle handle;
    REQUIRE(backend->export_memory(memory.at(0), 1000, handle).ok());
    void *opened = nullptr;
    REQUIRE(backend->open_memory(0, handle, 1000, opened).ok());
    backend->close_memory(0, opened);
}

void make_device_plan() {
    const BuiltType type(list_of(0));
    ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
    REQUIRE(ucd_device_plan_create(1, type.get(), hint_for(device0).c_str(), nullptr, &plan) ==
            UCD_SUCCESS);
    CHECK(ucd_device_plan_free(&plan) == UCD_SUCCESS);
}

} // namespace

TEST_CASE("calls beside a capture, by its thread or another one, succeed and do not end it") {
    const bool by_another = GENERATE(false, true);
    struct {
        const char *name;
        std::function<void()> call;
    } const calls[] = {
        {"memory of the library's", allocate_memory},
        {"memory for other processes", share_memory},
        {"a staged pack", [] { StridedMove("staged", 700, device0, pageable).pack_and_check(); }},
        {"a pack between peers",
         [] { StridedMove("peers", 700, device0, device1).pack_and_check(); }},
        {"a plan for device code", make_device_plan},
        {"a batch for several threads", [&] { pack_in_threads(by_another ? 100 : 0); }},
        {"ucd_finalize",
         [] {
             REQUIRE(ucd_finalize() == UCD_SUCCESS);
             REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
         }},
    };
    for (const auto &[name, call] : calls) {
        INFO(name << (by_another ? ", by another thread" : ""));
        DeviceSession session;
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        mock::knobs.peers = true;
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        mock::Stream stream(0);
        CHECK_NOTHROW(captured(
            stream, [&] { by_another ? std::async(std::launch::async, call).get() : call(); }));
    }
}

TEST_CASE("beside a capture, ucd_finalize waits for the work in other streams") {
    DeviceSession session;
    mock::Stream capturing(0), stream(0);
    WholeMove m("finalize", list_of(0), device0, device0);
    set_up_pack(m.move());
    mock::hold();
    REQUIRE(pack_in(native(stream), m.move()) == UCD_SUCCESS);
    m.free_type();
    std::thread device([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        mock::let_go();
    });
    CHECK_NOTHROW(captured(capturing, [] { CHECK(ucd_finalize() == UCD_SUCCESS); }));
    device.join();
    finish_in(stream);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    m.check();
}

TEST_CASE("a program that only captures uses the memory of destroyed graphs again") {
    DeviceSession session;
    mock::Stream stream(0);
    Vectors batch(400); // its table is too large for a launch
    for (const Subject &s : batch.subjects) prepare(stream, s.type());
    int live = 0;
    for (int i = 0; i < 10; ++i) {
        (void)captured(stream,
                       [&] { REQUIRE(start_in(stream, batch.moves.packs()) == UCD_SUCCESS); });
        if (i == 1) live = mock::counts.live_allocations;
    }
    CHECK(mock::counts.live_allocations == live);
    // And if memory runs out, other calls get it.
    ucd::hostgpu::is_memory_full = true;
    const BuiltType other(list_of(0));
    prepare(stream, other.get());
    CHECK_FALSE(ucd::hostgpu::is_memory_full);
}

TEST_CASE("a count of 2 prepares counts whose packed bytes need more than 31 bits") {
    DeviceSession session;
    mock::Stream stream(0);
    // Eight bytes at any address, all of them at the same.
    const BuiltType type(resized(vector(2, 4, 5, leaf(UCD_TYPE__BYTE)), 0, 0));
    constexpr std::uintptr_t count = std::uintptr_t{1} << 28;
    Rng rng(1);
    const DeviceBuffer in(rng, {0, 9}, device0);
    void *const out = mock::allocate(ucd::MemoryKind::device, 0, 8 * count);
    REQUIRE(ucd_prepare(2, type.get(), UCD_OP__REPLACE, native(stream), UCD_INFO__NULL) ==
            UCD_SUCCESS);
    std::uintptr_t bytes = 0;
    const ucd::hostgpu::Graph graph = captured(stream, [&] {
        CHECK(ucd_pack_stream(in.real_base(), count, type.get(), 0, out, 8 * count, &bytes,
                              UCD_INFO__NULL, UCD_OP__REPLACE, native(stream)) == UCD_SUCCESS);
    });
    CHECK(graph.nodes.size() == 1); // not replayed, which takes long
    CHECK(bytes == 8 * count);
    mock::release(out);
}

} // namespace hostgpu_captures_test
