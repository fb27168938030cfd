// Streams for the library's own launches. A lane is a stream whose launches are numbered. They
// complete in the order of their numbers, so one query of the stream, or of an event in it, tells
// the state of many launches, and most launches need no event of their own.
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

    // Whether all launches are known to be complete. Does not query the device.
    bool is_idle() const {
        return submitted_.load(std::memory_order_relaxed) ==
               completed_.load(std::memory_order_relaxed);
    }

    // Sets `completed` if the launch is complete. A failure in the lane is reported for all
    // launches that may have caused it. Never waits: while another thread launches or polls here,
    // the launch counts as not complete.
    Status poll(uint64_t number, bool &completed);

private:
    friend class LaneGroup;
    friend class LaunchTurn;
    struct Mark {
        gpuEvent_t event = nullptr; // made at first use, and kept
        uint64_t number = 0;        // the launches up to this one precede the event
    };
    static constexpr std::size_t max_marks = 16;

    // These are called with the lock held.
    Status open(int priority);
    bool wants_mark(uint64_t bytes) const;
    Status mark();
    void look(uint64_t number);
    void note(gpuError_t state, uint64_t number);
    Mark &mark_at(std::size_t i) { return marks_[(first_mark_ + i) % max_marks]; }

    std::mutex mutex_; // held by launches and by queries
    gpuStream_t stream_ = nullptr;
    std::atomic<uint64_t> submitted_{0}, completed_{0};
    // Launches and their bytes since the last mark.
    uint64_t unmarked_ = 0, unmarked_bytes_ = 0;
    std::array<Mark, max_marks> marks_; // a ring
    std::size_t first_mark_ = 0, mark_count_ = 0;
    // The launches after `sound_before_fault_`, up to `faulty_`, may have failed.
    std::atomic<uint64_t> faulty_{0};
    uint64_t sound_before_fault_ = 0;
    LastError fault_;
};

// The lanes of a thread.
class LaneGroup {
private:
    friend class LaunchTurn;
    Lane &next(uint64_t bytes, std::unique_lock<std::mutex> &lock);

    // The number of launches of a thread that may run concurrently.
    static constexpr std::size_t lane_count = 8;
    std::array<Lane, lane_count> lanes_;
    std::atomic<std::size_t> turn_{0};
};

// The right to put one launch into a lane.
class LaunchTurn {
public:
    // The device must be current. `bytes` is about the number of bytes that the launch moves.
    Status begin(LaneGroup &group, int priority, uint64_t bytes);
    gpuStream_t stream() const { return lane_->stream_; }
    // Called after the launch: returns its number in the lane.
    uint64_t end();
    Lane &lane() const { return *lane_; }

private:
    Lane *lane_ = nullptr;
    std::unique_lock<std::mutex> lock_;
    uint64_t bytes_ = 0;
};

} // namespace ucd::UCD_GPU
