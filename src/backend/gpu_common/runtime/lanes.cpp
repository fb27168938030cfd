#include "runtime/lanes.h"

#include "runtime/captures.h"

namespace ucd::UCD_GPU {
namespace {

// The number of launches, or of their bytes, that share a mark. The device takes longer for these
// than the host for the mark.
constexpr uint64_t launches_per_mark = 8, bytes_per_mark = uint64_t{1} << 20;

} // namespace

// No work may be outstanding. Failures are ignored: at exit, the driver may already be unloaded.
Lane::~Lane() {
    for (const Mark &mark : marks_)
        if (mark.event != nullptr) (void)gpuEventDestroy(mark.event);
    if (stream_ != nullptr) (void)gpuStreamDestroy(stream_);
}

Status Lane::open(int priority) {
    if (stream_ != nullptr) return success;
    return check(gpuStreamCreateWithPriority(&stream_, gpuStreamNonBlocking, priority),
                 "creating a stream");
}

bool Lane::wants_mark(uint64_t bytes) const {
    return unmarked_ >= launches_per_mark ||
           (unmarked_ > 0 && unmarked_bytes_ + bytes >= bytes_per_mark);
}

// If all marks are in use, the last one is recorded again at the end of the stream: completion of
// its launches is then reported later.
Status Lane::mark() {
    if (mark_count_ == max_marks) look(mark_at(0).number);
    const bool moves = mark_count_ == max_marks;
    Mark &mark = mark_at(moves ? mark_count_ - 1 : mark_count_);
    if (mark.event == nullptr)
        UCD_TRY(check(gpuEventCreateWithFlags(&mark.event, gpuEventDisableTiming),
                      "creating an event"));
    UCD_TRY(check(gpuEventRecord(mark.event, stream_), "recording an event"));
    mark.number = submitted_.load(std::memory_order_relaxed);
    if (!moves) ++mark_count_;
    unmarked_ = unmarked_bytes_ = 0;
    return success;
}

// Queries the device about launches up to `number`, at least.
void Lane::look(uint64_t number) {
    while (completed_.load(std::memory_order_relaxed) < number && mark_count_ > 0) {
        const gpuError_t state = gpuEventQuery(mark_at(0).event);
        if (state == gpuErrorNotReady) return;
        note(state, mark_at(0).number);
        first_mark_ = (first_mark_ + 1) % max_marks;
        --mark_count_;
    }
    if (completed_.load(std::memory_order_relaxed) >= number) return;
    const gpuError_t state = gpuStreamQuery(stream_);
    if (state != gpuErrorNotReady) note(state, submitted_.load(std::memory_order_relaxed));
}

// Notes that all launches up to `number` are complete, where `number` is above completed_.
void Lane::note(gpuError_t state, uint64_t number) {
    const uint64_t before = completed_.load(std::memory_order_relaxed);
    if (const Status status = check(state, "work on the device"); !status.ok()) {
        if (faulty_.load(std::memory_order_relaxed) == 0) sound_before_fault_ = before;
        fault_ = last_error();
        // If the query itself failed, work may still be running. The caller of a failed operation
        // may free its memory, so the stream must be idle first.
        (void)gpuStreamSynchronize(stream_);
        faulty_.store(number, std::memory_order_relaxed);
    }
    completed_.store(number, std::memory_order_release);
}

Status Lane::poll(uint64_t number, bool &completed) {
    completed = completed_.load(std::memory_order_acquire) >= number;
    if (completed && faulty_.load(std::memory_order_relaxed) < number) [[likely]]
        return success;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) {
        completed = false;
        return success;
    }
    const BesideCaptures beside;
    if (!completed) look(number);
    completed = completed_.load(std::memory_order_relaxed) >= number;
    const bool failed = completed && number > sound_before_fault_ &&
                        number <= faulty_.load(std::memory_order_relaxed);
    if (!failed) return success;
    last_error() = fault_;
    return Status(UCD_ERR__DEVICE);
}

// Prefers an idle lane, so that launches run concurrently. Otherwise lanes take turns, and each
// turn has a few launches.
Lane &LaneGroup::next(uint64_t bytes, std::unique_lock<std::mutex> &lock) {
    for (Lane &lane : lanes_) {
        if (!lane.is_idle()) continue;
        std::unique_lock own(lane.mutex_, std::try_to_lock);
        if (!own.owns_lock() || !lane.is_idle()) continue;
        lock = std::move(own);
        return lane;
    }
    const std::size_t turn = turn_.load(std::memory_order_relaxed);
    Lane &lane = lanes_[turn % lane_count];
    lock = std::unique_lock(lane.mutex_);
    // The mark is set at the lane's next turn, if unfinished launches are left by then.
    if (lane.wants_mark(bytes)) turn_.store(turn + 1, std::memory_order_relaxed);
    return lane;
}

Status LaunchTurn::begin(LaneGroup &group, int priority, uint64_t bytes) {
    lane_ = &group.next(bytes, lock_);
    bytes_ = bytes;
    UCD_TRY(lane_->open(priority));
    if (lane_->is_idle())
        lane_->unmarked_ = lane_->unmarked_bytes_ = 0;
    else if (lane_->wants_mark(bytes))
        UCD_TRY(lane_->mark());
    return success;
}

uint64_t LaunchTurn::end() {
    ++lane_->unmarked_;
    lane_->unmarked_bytes_ += bytes_;
    const uint64_t number = lane_->submitted_.load(std::memory_order_relaxed) + 1;
    lane_->submitted_.store(number, std::memory_order_relaxed);
    lock_.unlock();
    return number;
}

} // namespace ucd::UCD_GPU
