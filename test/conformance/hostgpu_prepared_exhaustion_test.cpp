// Prepared launches on GPU backends while memory of the host runs out, and what a start allocates.
#include "support/catch.hpp"

#include "backend.h"

#include "c_api/allocations.hpp"
#include "support/fake_device/fake_driver.h"
#include "support/host_vendor/capture.h"
#include "support/moves/backend_move.hpp"
#include "support/random/rng.hpp"
#include "unit/layouts_by_hand.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace hostgpu_prepared_exhaustion_test {

using namespace ucdtest;
using ucd::Direction;
using ucd::Event;
using ucd::KernelPlan;
using ucd::Move;
using ucd::PreparedLaunch;

namespace {

constexpr std::size_t blocks = 50, members = 120;

// Memory of device 0.
class Bytes {
public:
    explicit Bytes(std::size_t bytes)
        : bytes_(bytes),
          address(static_cast<char *>(mock::allocate(ucd::MemoryKind::device, 0, bytes))) {}
    ~Bytes() { mock::release(address); }
    Bytes(const Bytes &) = delete;
    Bytes &operator=(const Bytes &) = delete;
    void fill(Rng &rng) const {
        std::vector<char> values(bytes_);
        for (char &value : values) value = static_cast<char>(rng.bits());
        mock::write(address, values.data(), bytes_);
    }
    std::vector<char> get() const {
        std::vector<char> values(bytes_);
        mock::read(values.data(), address, bytes_);
        return values;
    }

private:
    const std::size_t bytes_;

public:
    char *const address;
};

// Packs of a list of blocks of 8 bytes, copies of it to blocks at equal distances, and packs of
// these.
class Moves {
public:
    explicit Moves(ucd::Backend &backend) {
        for (std::size_t i = 0; i < blocks; ++i)
            displacements_.push_back(static_cast<std::int64_t>(24 * i + i % 5 % 2 * 8));
        list_ = listed(8, displacements_);
        steps_ = strided(8, blocks, 16);
        REQUIRE(backend.plan(list_, 0, false, UINT64_MAX, list_plan_).ok());
        REQUIRE(backend.plan(steps_, 0, false, UINT64_MAX, steps_plan_).ok());
        for (std::size_t i = 0; i < members; ++i) {
            moves.push_back(
                move_of(*list_plan_, source.address, packed.address + 8 * blocks * i, 8 * blocks));
            moves.push_back(copy_of({list_plan_.get(), source.address, 1, 8},
                                    {steps_plan_.get(), target.address + 16 * blocks * i, 1, 16},
                                    8 * (blocks - 2)));
        }
    }
    void set_up(Rng &rng) const {
        for (const Bytes *memory : {&source, &packed, &target}) memory->fill(rng);
        before_ = target.get();
    }
    bool are_done() const {
        const std::vector<char> from = source.get();
        std::vector<char> expected(8 * blocks);
        std::vector<char> copied = before_;
        for (std::size_t i = 0; i < blocks; ++i) {
            const char *const block = &from[static_cast<std::size_t>(displacements_[i])];
            std::memcpy(&expected[8 * i], block, 8);
            for (std::size_t m = 0; m < members && i >= 1 && i + 1 < blocks; ++m)
                std::memcpy(&copied[16 * blocks * m + 16 * (i + 1)], block, 8);
        }
        std::vector<char> all;
        for (std::size_t m = 0; m < members; ++m)
            all.insert(all.end(), expected.begin(), expected.end());
        return packed.get() == all && target.get() == copied;
    }

    const Bytes source{24 * blocks + 16}, packed{8 * blocks * members},
        target{16 * blocks * members};
    std::vector<Move> moves;

private:
    std::vector<std::int64_t> displacements_;
    ucd::OwnedLayout list_, steps_;
    ucd::Owner<KernelPlan> list_plan_, steps_plan_;
    mutable std::vector<char> before_;
};

void run(ucd::Backend &backend, const PreparedLaunch &prepared) {
    ucd::Owner<Event> done;
    REQUIRE(backend.launch(prepared, done).ok());
    for (bool completed = done == nullptr; !completed; std::this_thread::yield())
        REQUIRE(done->poll(completed).ok());
}

} // namespace

TEST_CASE("a launch is prepared again after memory has run out") {
    mock::reset();
    Rng rng(1);
    int failures = 0;
    for (std::size_t nth = 1;; ++nth) {
        const ucd::Owner<ucd::Backend> backend = ucd::hostgpu::make_backend();
        const Moves moves(*backend);
        ucd::Owner<PreparedLaunch> prepared;
        fail_allocation(nth);
        ucd::Status status;
        bool thrown = false;
        try {
            status = backend->prepare_launch(0, moves.moves, prepared);
        } catch (const std::bad_alloc &) {
            thrown = true;
        }
        const bool failed = !end_failing();
        failures += failed;
        CHECK((prepared != nullptr) == (!thrown && status.ok()));
        if (prepared == nullptr) REQUIRE(backend->prepare_launch(0, moves.moves, prepared).ok());
        moves.set_up(rng);
        run(*backend, *prepared);
        CHECK(moves.are_done());
        if (!failed) break;
    }
    CHECK(failures > 20);
    CHECK(mock::counts.live_allocations == 0);
}

TEST_CASE("a start of a prepared launch allocates its event, and one in a stream what it keeps") {
    mock::reset();
    Rng rng(2);
    const ucd::Owner<ucd::Backend> backend = ucd::hostgpu::make_backend();
    const Moves moves(*backend);
    ucd::Owner<PreparedLaunch> prepared;
    REQUIRE(backend->prepare_launch(0, moves.moves, prepared).ok());
    for (int round = 0; round < 2; ++round) run(*backend, *prepared); // lanes are made
    constexpr std::size_t many = 1000;
    ucd::Owner<Event> done;
    moves.set_up(rng);
    fail_allocation(many);
    const ucd::Status status = backend->launch(*prepared, done);
    const std::size_t allocated = many - until_failing();
    (void)end_failing();
    REQUIRE(status.ok());
    CHECK(allocated == 1);
    for (bool completed = false; !completed; std::this_thread::yield())
        REQUIRE(done->poll(completed).ok());
    CHECK(moves.are_done());

    mock::Stream stream(0);
    moves.set_up(rng);
    fail_allocation(many);
    const ucd::Status in_stream = backend->launch_in({0, &stream, nullptr}, *prepared, nullptr);
    const std::size_t allocated_in_stream = many - until_failing();
    (void)end_failing();
    stream.synchronise();
    REQUIRE(in_stream.ok());
    CHECK(allocated_in_stream == 0);
    CHECK(moves.are_done());
}

} // namespace hostgpu_prepared_exhaustion_test
