// Devices of GPU backends: what is loaded for conversions, who reaches whose memory, and devices
// that do not exist.
#include "kernels/convert_kernels.h"
#include "kernels/copy_kernels.h"

#include "unit/gpu_members.hpp"
#include "unit/layouts_by_hand.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace gpu_devices_test {

using namespace ucd;
using namespace ucd::hostgpu;
using namespace ucdtest;

TEST_CASE_METHOD(OnBackend, "preparing a conversion loads the kernels of all conversions") {
    const OwnedLayout layout = strided(4, 40, 12);
    const auto plan = backend.plan(layout);
    Move move = move_of(*plan, nullptr, nullptr, 0);
    move.op = Op::convert;
    Capture capture;
    (void)kernels_loaded();
    REQUIRE(backend->prepare(capture.native(), move).ok());
    const std::set<std::string> loaded = kernels_loaded();
    const auto load = [](const void *kernel) {
        gpuFuncAttributes attributes;
        if (kernel != nullptr) REQUIRE(gpuFuncGetAttributes(&attributes, kernel) == gpuSuccess);
    };
    for (int from = 0; from < static_cast<int>(Element::count_); ++from)
        for (int to = 0; to < static_cast<int>(Element::count_); ++to) {
            const auto source = static_cast<Element>(from), target = static_cast<Element>(to);
            load(convert_kernels(source, target).rows);
            load(convert_kernels(source, target).tiles);
            load(convert_kernels(source, target).places_batch);
        }
    const std::set<std::string> all = kernels_loaded();
    CHECK(all.size() > 50);
    CHECK(std::includes(loaded.begin(), loaded.end(), all.begin(), all.end()));
}

TEST_CASE_METHOD(OnBackend, "ops and elements of a later library are not supported") {
    for (const Op op : {Op::replace, Op::sum, Op::convert}) {
        CHECK(backend->supports(op, Element::int32));
        CHECK_FALSE(backend->supports(op, Element::count_));
    }
    CHECK_FALSE(backend->supports(Op::count_, Element::int32));
}

TEST_CASE_METHOD(OnBackend, "peers reach each other, in both directions; no other devices do") {
    mock::knobs.peers = true;
    for (const int owner : {0, 1}) {
        void *const memory = mock::allocate(MemoryKind::device, owner, 16);
        MemoryLocation place;
        REQUIRE(backend->find(memory, place).ok());
        CHECK(place.device == owner);
        for (const int device : {0, 1}) CHECK(backend->reaches(device, place));
        for (const int device : {-1, 32, 1000}) {
            CHECK_FALSE(backend->reaches(device, place));
            MemoryLocation elsewhere = place;
            elsewhere.device = device;
            CHECK_FALSE(backend->reaches(owner, elsewhere));
        }
        mock::release(memory);
    }
}

TEST_CASE_METHOD(OnBackend, "whatever is done on a device fails if there is no such device") {
    constexpr int no_device = mock::device_count;
    const OwnedLayout layout = strided(8, 10, 16);
    const auto plan = backend.plan(layout);
    Member member(*plan, 8, steps(10, 16));
    Rng rng(6);
    member.set_up(rng);
    mock::Stream stream(0);
    const NativeStream native{no_device, &stream, nullptr};
    const std::vector<Move> moves{member.move};
    char *const typed = member.move.from.address, *const packed = member.move.to.address;
    const Move copy = copy_of({plan.get(), typed, 1, 0}, {plan.get(), packed, 1, 0}, 8);
    Owner<Event> done;
    void *memory = nullptr;
    DeviceBytes shared(64);
    MemoryHandle handle;
    REQUIRE(backend->export_memory(shared.at(0), 64, handle).ok());
    const Status all[] = {backend->launch(no_device, moves, done),
                          backend->launch_in(native, moves, nullptr),
                          backend->prepare(native, member.move),
                          backend->launch(no_device, std::span(&copy, 1), done),
                          backend->copy(no_device, packed, typed, 8, done),
                          backend->allocate(no_device, MemoryKind::device, 64, memory),
                          backend->allocate(no_device, MemoryKind::pinned, 64, memory),
                          backend->open_memory(no_device, handle, 64, memory)};
    for (const Status &status : all) CHECK(status.code() == UCD_ERR__DEVICE);
    CHECK(done == nullptr);
    CHECK(memory == nullptr);
    CHECK(mock::counts.live_opens == 0);
}

} // namespace gpu_devices_test
