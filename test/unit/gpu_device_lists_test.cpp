// The lists of plans in the memory of a GPU backend's devices: who may use them, what takes their
// place, and what failures leave behind.
#include "plan/job_range.h"

#include "unit/gpu_members.hpp"
#include "unit/layouts_by_hand.hpp"

#include <cstdint>
#include <vector>

using namespace ucd;
using namespace ucd::gpu;
using namespace ucd::hostgpu;
using namespace ucdtest;

namespace {

const std::vector<std::int64_t> some{0, 24, 40, 88}, others{0, 16, 64, 80};

std::vector<std::size_t> as_places(const std::vector<std::int64_t> &displacements) {
    return {displacements.begin(), displacements.end()};
}

} // namespace

TEST_CASE("memory for lists whose upload failed is used for the next one") {
    Rng rng(1);
    FreshBackend backend;
    const Layout layout = listed(8, some);
    const auto plan = backend.plan(layout);
    Member member(*plan, 8, as_places(some));
    member.set_up(rng);
    const std::vector<Job> jobs{member.job};
    mock::knobs.failing_allocation = 1;
    CHECK(backend.run(jobs).code() == UCD_ERR__OUT_OF_MEM);
    mock::knobs.failing_launch = 1; // the upload
    CHECK(backend.run(jobs).code() == UCD_ERR__DEVICE);
    CHECK(mock::counts.allocations == 1);
    REQUIRE(backend.run(jobs).ok());
    CHECK(mock::counts.allocations == 1);
    CHECK(member.is_right());
}

TEST_CASE("lists that are in use, or that a graph may use, make no way for others") {
    Rng rng(2);
    FreshBackend backend;
    const Layout layout = listed(8, some), other_layout = listed(8, others);
    const auto plan = backend.plan(layout), other_plan = backend.plan(other_layout);
    Member member(*plan, 8, as_places(some)), other(*other_plan, 8, as_places(others));
    member.set_up(rng);
    other.set_up(rng);
    const std::vector<Job> jobs{member.job}, other_jobs{other.job};
    mock::hold();
    std::unique_ptr<Event> done;
    const Status started = backend->launch(0, jobs, done);
    mock::knobs.out_of_memory = true;
    std::vector<int> codes;
    for (int time = 0; time < 3; ++time) codes.push_back(backend.run(other_jobs).code());
    mock::let_go();
    REQUIRE(started.ok());
    REQUIRE(FreshBackend::wait(done).ok());
    done.reset();
    CHECK(codes == std::vector<int>(3, UCD_ERR__OUT_OF_MEM));
    CHECK(member.is_right());
    // Now they are not in use.
    REQUIRE(backend.run(other_jobs).ok());
    CHECK(other.is_right());
    Capture capture;
    REQUIRE(backend->prepare(capture.native(), other.job).ok());
    for (int time = 0; time < 3; ++time) CHECK(backend.run(jobs).code() == UCD_ERR__OUT_OF_MEM);
}

// Prepared for one repetition, which a nest moves; so many need the lists of another kernel. They
// have no memory, so that their own launch fails at once.
TEST_CASE("a graph uses lists that are there only if they stay there") {
    FreshBackend backend;
    const Layout layout = listed(8, some);
    const auto plan = backend.plan(layout, 96, true);
    Job job;
    job.plan = plan.get();
    job.typed = reinterpret_cast<char *>(std::uintptr_t{1} << 44);
    job.packed = reinterpret_cast<char *>(std::uintptr_t{1} << 45);
    job.count = 1;
    job.length = 32;
    Capture capture;
    REQUIRE(backend->prepare(capture.native(), job).ok());
    REQUIRE(backend->launch_in(capture.native(), std::vector<Job>{job}, nullptr).ok());
    job.count = max_positions;
    job.length = 32 * max_positions;
    for (int time = 0; time < 3; ++time)
        CHECK(backend.run(std::vector<Job>{job}).code() == UCD_ERR__DEVICE);
    CHECK(backend->launch_in(capture.native(), std::vector<Job>{job}, nullptr).code() ==
          UCD_ERR__NOT_SUPPORTED);
    REQUIRE(backend->prepare(capture.native(), job).ok());
    CHECK(backend->launch_in(capture.native(), std::vector<Job>{job}, nullptr).ok());
    CHECK(capture.end() == 2);
}
