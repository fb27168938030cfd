// Lanes and pooled events of GPU backends by themselves, with streams that are threads of the CPU:
// where launches go, and what is known of them while others are under way.
#include "runtime/events.h"
#include "runtime/lanes.h"

#include "support/catch.hpp"
#include "support/fake_device/fake_driver.h"

#include <atomic>
#include <cstdint>
#include <list>
#include <thread>
#include <vector>

namespace gpu_lanes_test {

using namespace ucd;
using namespace ucd::hostgpu;

namespace {

constexpr uint64_t small = 64, large = uint64_t{1} << 20, half = large / 2;
constexpr std::size_t lanes = 8;

class OwnEvent {
public:
    OwnEvent() { REQUIRE(gpuEventCreateWithFlags(&event_, gpuEventDisableTiming) == gpuSuccess); }
    ~OwnEvent() { (void)gpuEventDestroy(event_); }
    OwnEvent(const OwnEvent &) = delete;
    OwnEvent &operator=(const OwnEvent &) = delete;
    operator gpuEvent_t() const { return event_; }

private:
    gpuEvent_t event_ = nullptr;
};

// What launches wait for until the test opens it.
class Gate {
public:
    Gate() {
        REQUIRE(gpuStreamCreateWithPriority(&stream_, gpuStreamNonBlocking, 0) == gpuSuccess);
        stream_->add([this] { open_.wait(false); });
        REQUIRE(gpuMemcpyAsync(memory_, memory_ + 1, 1, gpuMemcpyDefault, stream_) == gpuSuccess);
        REQUIRE(gpuEventRecord(opened_, stream_) == gpuSuccess);
    }
    ~Gate() {
        open();
        (void)gpuStreamDestroy(stream_);
        mock::release(memory_);
    }
    Gate(const Gate &) = delete;
    Gate &operator=(const Gate &) = delete;
    void open() {
        open_ = true;
        open_.notify_all();
    }
    gpuEvent_t opened() const { return opened_; }

private:
    std::atomic<bool> open_{false};
    gpuStream_t stream_ = nullptr;
    char *const memory_ = static_cast<char *>(mock::allocate(MemoryKind::device, 0, 2));
    OwnEvent opened_;
};

struct Launched {
    Lane *lane = nullptr;
    uint64_t number = 0;
    int marks = 0; // events that were recorded for it
    gpuStream_t stream = nullptr;
    OwnEvent over;

    // As a device would know.
    void await() const {
        while (gpuEventQuery(over) == gpuErrorNotReady) std::this_thread::yield();
    }
    bool is_known_to_be_over() const {
        bool completed = false;
        REQUIRE(lane->poll(number, completed).ok());
        return completed;
    }
};

// Destroyed after what its launches wait for has been opened.
class Launches {
public:
    Launched &add(uint64_t bytes, const Gate &gate) {
        Launched &launched = all_.emplace_back();
        mock::counts.events_recorded = 0;
        LaunchTurn turn;
        REQUIRE(turn.begin(group, 0, bytes).ok());
        launched.marks = mock::counts.events_recorded;
        launched.lane = &turn.lane();
        launched.stream = turn.stream();
        REQUIRE(gpuStreamWaitEvent(turn.stream(), gate.opened()) == gpuSuccess);
        REQUIRE(gpuEventRecord(launched.over, turn.stream()) == gpuSuccess);
        launched.number = turn.end();
        return launched;
    }
    LaneGroup group;

private:
    std::list<Launched> all_;
};

} // namespace

TEST_CASE("launches go to idle lanes, or else to one lane after the other, with few marks") {
    Launches launches;
    Gate gate;
    std::vector<const Lane *> first;
    for (std::size_t i = 0; i < lanes; ++i) {
        const Launched &launched = launches.add(small, gate);
        first.push_back(launched.lane);
        CHECK(launched.number == 1);
        CHECK(launched.marks == 0);
        for (std::size_t k = 0; k < i; ++k) CHECK(first[k] != first[i]);
    }
    // Eight small ones share a lane's turn, and a mark.
    for (std::size_t i = 0; i < 8 * lanes; ++i) {
        const Launched &launched = launches.add(small, gate);
        CHECK(launched.lane == first[i / 8]);
        CHECK(launched.marks == (i % 8 == 7 ? 1 : 0));
    }
    // Each large one has a mark before it, and is a turn.
    for (std::size_t i = 0; i < 3 * lanes; ++i) {
        const Launched &launched = launches.add(large, gate);
        CHECK(launched.lane == first[i % lanes]);
        CHECK(launched.marks == 1);
    }
}

TEST_CASE("launches that are large together share no mark") {
    Launches launches;
    Gate gate;
    for (std::size_t i = 0; i < lanes; ++i) CHECK(launches.add(half, gate).marks == 0);
    for (std::size_t i = 0; i < lanes; ++i) CHECK(launches.add(half, gate).marks == 1);
    for (std::size_t i = 0; i < lanes; ++i) {
        CHECK(launches.add(half - 1, gate).marks == 0);
        CHECK(launches.add(1, gate).marks == 1);
    }
}

TEST_CASE("an idle lane takes a large launch without a mark") {
    Launches launches;
    for (int round = 0; round < 3; ++round) {
        Gate gate;
        const Launched &launched = launches.add(large, gate);
        CHECK(launched.marks == 0);
        CHECK_FALSE(launched.is_known_to_be_over());
        gate.open();
        launched.await();
        CHECK(launched.is_known_to_be_over());
    }
}

// A lane has 16 marks. More launches than that have one for each of the first 15, and the last one
// for the others.
TEST_CASE("a launch is known to be over while later ones of its lane are under way") {
    constexpr std::size_t rounds = 20, own_marks = 15;
    Launches launches;
    std::list<Gate> gates;
    std::vector<std::vector<const Launched *>> in_round(rounds + 1);
    for (std::size_t round = 1; round <= rounds; ++round) {
        gates.emplace_back();
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            in_round[round].push_back(&launches.add(large, gates.back()));
            REQUIRE(in_round[round].back()->lane == in_round[1][lane]->lane);
        }
    }
    auto gate = gates.begin();
    for (std::size_t over = 1; over <= rounds; ++over) {
        (gate++)->open();
        for (const Launched *launched : in_round[over]) launched->await();
        for (std::size_t round = 1; round <= rounds; ++round)
            for (const Launched *launched : in_round[round]) {
                const bool shares = round > own_marks && round < rounds;
                INFO("launch " << round << " of a lane, of which " << over << " are over");
                CHECK(launched->is_known_to_be_over() ==
                      (shares ? over + 1 >= rounds : round <= over));
            }
    }
}

TEST_CASE("marks that cannot be made fail the launch, and the next one is right") {
    for (const int nth : {1, 2}) { // the event, and its record
        Launches launches;
        Gate gate;
        for (std::size_t i = 0; i < lanes; ++i) launches.add(large, gate);
        mock::knobs.failing_handle = nth;
        {
            LaunchTurn turn;
            CHECK(turn.begin(launches.group, 0, large).code() == UCD_ERR__DEVICE);
        }
        mock::knobs.failing_handle = 0;
        const Launched &next = launches.add(large, gate);
        CHECK(next.number == 2);
        gate.open();
        next.await();
        CHECK(next.is_known_to_be_over());
    }
}

TEST_CASE("what was over before a failure has not failed") {
    Launches launches;
    Gate gate;
    const Launched &sound = launches.add(small, gate);
    gate.open();
    sound.await();
    REQUIRE(sound.is_known_to_be_over());
    mock::knobs.failing_work = 1;
    const Launched &failed = launches.add(small, gate);
    REQUIRE(failed.lane == sound.lane);
    failed.stream->synchronise();
    for (int time = 0; time < 2; ++time) {
        bool completed = false;
        CHECK(failed.lane->poll(failed.number, completed).code() == UCD_ERR__DEVICE);
        CHECK(completed);
        CHECK(sound.is_known_to_be_over());
    }
    const Launched &later = launches.add(small, gate);
    REQUIRE(later.lane == sound.lane);
    later.await();
    CHECK(later.is_known_to_be_over());
    CHECK(sound.is_known_to_be_over());
}

TEST_CASE("what is known to be over is told while another thread launches in the lane") {
    Launches launches;
    Gate gate;
    const Launched &over = launches.add(small, gate);
    gate.open();
    over.await();
    REQUIRE(over.is_known_to_be_over());
    std::atomic<bool> begun{false}, may_end{false};
    std::thread other([&] {
        LaunchTurn turn;
        if (turn.begin(launches.group, 0, small).ok() && &turn.lane() == over.lane) {
            begun = true;
            begun.notify_all();
            may_end.wait(false);
        }
        (void)turn.end();
        begun = true;
        begun.notify_all();
    });
    begun.wait(false);
    const bool known = over.is_known_to_be_over();
    may_end = true;
    may_end.notify_all();
    other.join();
    CHECK(known);
}

TEST_CASE("a failure is told later while another thread launches in the lane") {
    Launches launches;
    Gate gate;
    const Launched &sound = launches.add(small, gate);
    gate.open();
    sound.await();
    REQUIRE(sound.is_known_to_be_over());
    mock::knobs.failing_work = 1;
    const Launched &failed = launches.add(small, gate);
    failed.stream->synchronise();
    const auto poll = [&](bool &completed) {
        return failed.lane->poll(failed.number, completed).code();
    };
    bool completed = false;
    REQUIRE(poll(completed) == UCD_ERR__DEVICE);
    REQUIRE(completed);
    LaunchTurn turn;
    REQUIRE(turn.begin(launches.group, 0, small).ok());
    REQUIRE(&turn.lane() == failed.lane);
    int code = UCD_ERR__INTERNAL;
    std::thread([&] { code = poll(completed); }).join();
    CHECK(code == UCD_SUCCESS);
    CHECK_FALSE(completed);
    (void)turn.end();
    CHECK(poll(completed) == UCD_ERR__DEVICE);
    CHECK(completed);
}

TEST_CASE("an event that cannot be made is not taken from the pool") {
    EventPool pool;
    mock::knobs.failing_handle = 1;
    {
        PooledEvent event;
        CHECK(pool.take(event).code() == UCD_ERR__DEVICE);
        CHECK_FALSE(event);
    }
    mock::knobs.failing_handle = 0;
    PooledEvent event;
    REQUIRE(pool.take(event).ok());
    CHECK(event);
}

} // namespace gpu_lanes_test
