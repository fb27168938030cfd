// Launches from their beginning to their end: in a lane of the library, and in a caller's stream.
#pragma once

#include "implement.h"
#include "launch/kept.h"
#include "launch/launch_target.h"
#include "runtime/driver.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace ucd::UCD_GPU {

// The completion of a launch in a lane.
class LaneEvent final : public EventOf<LaneEvent> {
public:
    Status poll(bool &completed) { return lane_->poll(number_, completed); }
    void end(LaunchTurn &turn) {
        lane_ = &turn.lane();
        number_ = turn.end();
    }

    LaunchNeeds needs;

private:
    Lane *lane_ = nullptr;
    uint64_t number_ = 0;
};

// A launch in a lane of this thread.
class LaneLaunch {
public:
    // `bytes` is about the number of bytes that it moves.
    [[gnu::always_inline]] LaneLaunch(OpenDevices &devices, int index, uint64_t bytes)
        : at_(devices, index), status_(at_.status), event_(make_owned<LaneEvent>()) {
        if (status_.ok()) status_ = at_.device().begin_launch(bytes, turn_);
        if (status_.ok())
            target_.emplace(at_.device(), turn_.stream(), LaunchState::empty, event_->needs);
    }
    // If the launch has not ended, waits for the part that was started, because on return the
    // buffers belong to the caller again.
    ~LaneLaunch() {
        if (event_ != nullptr && target_ && target_->state() == LaunchState::started)
            (void)gpuStreamSynchronize(turn_.stream());
    }

    Status status() const { return status_; } // of beginning
    LaunchTarget &target() { return *target_; }
    Owner<Event> end() {
        event_->end(turn_);
        return std::move(event_);
    }

private:
    const OnDevice at_;
    Status status_;
    Owner<LaneEvent> event_;
    LaunchTurn turn_;
    std::optional<LaunchTarget> target_;
};

// A launch in a caller's stream.
class StreamLaunch {
public:
    // `needs_table` says that the launch may need something besides `keep`.
    [[gnu::always_inline]] StreamLaunch(OpenDevices &devices, KeptLaunches &kept,
                                        const NativeStream &native, Keep keep, bool needs_table)
        : at_(devices, native.device), status_(at_.status) {
        if (status_.ok()) status_ = begin(kept, native, std::move(keep), needs_table);
    }
    // Even if the call fails, the work that is in the stream by then needs its lists and tables
    // until it is done.
    ~StreamLaunch() {
        if (!target_ || kept_ == nullptr) return;
        // Without the event, only waiting shows when the work is done. The launch's own failure is
        // told, if there is one.
        if (gpuEventRecord(item_->front().done.get(), target_->stream()) != gpuSuccess) {
            (void)gpuGetLastError();
            (void)gpuStreamSynchronize(target_->stream());
        }
        kept_->add(*item_);
    }

    Status status() const { return status_; } // of beginning
    LaunchTarget &target() { return *target_; }
    // If the stream is captured, the graph keeps `keep` instead.
    Status keep_with_graph(KeptLaunches &kept, const Keep &keep) {
        return target_->is_captured() ? kept.keep_with_graph(*target_, keep) : success;
    }

private:
    Status begin(KeptLaunches &kept, const NativeStream &native, Keep keep, bool needs_table) {
        gpuStream_t stream;
        UCD_TRY(driver::enter(native, stream));
        bool captured;
        UCD_TRY(is_captured(stream, captured));
        if (!captured && (keep != nullptr || needs_table)) {
            kept_ = &kept.sweep();
            item_.emplace().emplace_back().what = std::move(keep);
            UCD_TRY(at_.device().take_event(item_->front().done));
        }
        target_.emplace(at_.device(), stream, captured ? LaunchState::captured : LaunchState::empty,
                        item_ ? item_->front().needs : needs_);
        return success;
    }
    const OnDevice at_;
    Status status_;
    // If something has to be kept: where, and as which item.
    Kept *kept_ = nullptr;
    std::optional<Kept::Items> item_;
    LaunchNeeds needs_; // used otherwise, and dropped: what is prepared for graphs stays anyway
    std::optional<LaunchTarget> target_;
};

} // namespace ucd::UCD_GPU
