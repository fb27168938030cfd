// Streams for the library's own launches. A lane is a stream whose launches are numbered. Since
// they end in the order of their numbers, one look at the stream, or at an event somewhere in it,
// tells of many launches, and most launches need no event of their own.
#pragma once

#include "runtime/check.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace ucd::UCD_GPU {

class Lane {
public:
    Lane() = default;
    ~Lane();
    Lane(const Lane &) = delete;
    Lane &operator=(const Lane &) = delete;

    // Whether nothing is under way, as far as is known without asking the device.
    bool is_idle() const {
        return submitted_.load(std::memory_order_relaxed) ==
               completed_.load(std::memory_order_relaxed);
    }

    // Whether the launch is over. A failure in the lane is one of all launches that it may be of.
    // Never waits: while another thread launches or looks here, it is not known to be over.
    Status poll(uint64_t number, bool &completed);

private:
    friend class LaneGroup;
    friend class LaunchTurn;
    struct Mark {
        gpuEvent_t event = nullptr; // made when it is first needed, and kept
        uint64_t number = 0;        // all launches up to this one come before the event
    };
    static constexpr std::size_t max_marks = 16;

    // With the lock held.
    Status open(int priority);
    bool wants_mark(uint64_t bytes) const;
    Status mark();
    void look(uint64_t number);
    void note(gpuError_t state, uint64_t number);
    Mark &mark_at(std::size_t i) { return marks_[(first_mark_ + i) % max_marks]; }

    std::mutex mutex_; // of who launches, and of who looks
    gpuStream_t stream_ = nullptr;
    std::atomic<uint64_t> submitted_{0}, completed_{0};
    // What has been launched since the last mark.
    uint64_t unmarked_ = 0, unmarked_bytes_ = 0;
    std::array<Mark, max_marks> marks_; // a ring
    std::size_t first_mark_ = 0, mark_count_ = 0;
    // The launches behind `sound_before_fault_`, up to `faulty_`, may be those that have failed.
    std::atomic<uint64_t> faulty_{0};
    uint64_t sound_before_fault_ = 0;
    LastError fault_;
};

// The lanes of a thread.
class LaneGroup {
private:
    friend class LaunchTurn;
    Lane &next(uint64_t bytes, std::unique_lock<std::mutex> &lock);

    // So many launches of a thread run side by side.
    static constexpr std::size_t lane_count = 8;
    std::array<Lane, lane_count> lanes_;
    std::atomic<std::size_t> turn_{0};
};

// The right to put one launch into a lane.
class LaunchTurn {
public:
    // The device is current. `bytes`: about how many the launch moves.
    Status begin(LaneGroup &group, int priority, uint64_t bytes);
    gpuStream_t stream() const { return lane_->stream_; }
    // After the launch: its lane, and its number there.
    uint64_t end();
    Lane &lane() const { return *lane_; }

private:
    Lane *lane_ = nullptr;
    std::unique_lock<std::mutex> lock_;
    uint64_t bytes_ = 0;
};

} // namespace ucd::UCD_GPU
