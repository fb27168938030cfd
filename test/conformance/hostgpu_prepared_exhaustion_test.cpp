// Prepared launches on GPU backends while memory of the host runs out, and what a start allocates.
#include "support/catch.hpp"

#include "c_api/allocations.hpp"
#include "support/moves/backend_lists.hpp"

#include <cstddef>
#include <new>

namespace hostgpu_prepared_exhaustion_test {

using namespace ucdtest;
using ucd::Event;
using ucd::PreparedLaunch;

TEST_CASE("a launch is prepared again after memory has run out") {
    int failures = 0;
    for (std::size_t nth = 1;; ++nth) {
        OwnBackend backend;
        Case one("prepared exhaustion", 1);
        MixedList mixed(one, backend);
        ucd::Owner<PreparedLaunch> prepared;
        fail_allocation(nth);
        ucd::Status status;
        bool thrown = false;
        try {
            status = backend->prepare_launch(0, mixed.list.moves, prepared);
        } catch (const std::bad_alloc &) {
            thrown = true;
        }
        const bool failed = !end_failing();
        failures += failed;
        CHECK((prepared != nullptr) == (!thrown && status.ok()));
        if (prepared == nullptr)
            REQUIRE(backend->prepare_launch(0, mixed.list.moves, prepared).ok());
        REQUIRE(backend.run(*prepared).ok());
        mixed.list.check("prepared again");
        if (!failed) break;
    }
    CHECK(failures > 20);
}

TEST_CASE("a start of a prepared launch allocates its event, and one in a stream what it keeps") {
    OwnBackend backend;
    Case one("starts of a prepared launch", 2);
    MixedList mixed(one, backend);
    ucd::Owner<PreparedLaunch> prepared;
    REQUIRE(backend->prepare_launch(0, mixed.list.moves, prepared).ok());
    for (int round = 0; round < 2; ++round) REQUIRE(backend.run(*prepared).ok()); // lanes are made
    constexpr std::size_t many = 1000;
    mock::Stream stream(0);
    for (const bool in_stream : {false, true}) {
        ucd::Owner<Event> done;
        mixed.list.set_up();
        fail_allocation(many);
        const ucd::Status status =
            in_stream ? backend->launch_prepared_in(ucd::NativeStream{0, &stream, nullptr},
                                                    *prepared, nullptr)
                      : backend->launch_prepared(*prepared, done);
        const std::size_t allocated = many - until_failing();
        (void)end_failing();
        stream.synchronise();
        REQUIRE(status.ok());
        CHECK(allocated == (in_stream ? 0 : 1));
        REQUIRE(OwnBackend::wait(done).ok());
        mixed.list.check("started");
    }
}

} // namespace hostgpu_prepared_exhaustion_test
