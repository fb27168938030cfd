#include "streams.h"

#include "context.h"
#include "loader.h"

#include <memory>
#include <utility>

namespace ucd::ze {

ze_result_t StreamPoint::query() const {
    return signal_ == nullptr ? ZE_RESULT_SUCCESS : calls().zeEventQueryStatus(signal_->event);
}

ze_result_t StreamPoint::synchronize() const {
    return signal_ == nullptr ? ZE_RESULT_SUCCESS
                              : calls().zeEventHostSynchronize(signal_->event, UINT64_MAX);
}

namespace {

ze_result_t make_list(int device, uint32_t queues, ze_command_queue_priority_t priority,
                      ze_command_list_handle_t &list) {
    ze_command_queue_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    description.ordinal = queues;
    description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    description.priority = priority;
    return calls().zeCommandListCreateImmediate(context_of(device), found().of(device).device,
                                                &description, &list);
}

} // namespace

Stream::Stream(ze_command_list_handle_t list, int device, Kind kind)
    : computes_(list), device_(device),
      copies_apart_(kind == Kind::own && found().of(device).copy_queues.has_value()) {}

// Changes to the list of the other kind: commands that follow there wait for those in the list so
// far.
ze_result_t Stream::change_to(QueueKind kind) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (copies_ == nullptr)
        result = make_list(device_, *found().of(device_).copy_queues,
                           ZE_COMMAND_QUEUE_PRIORITY_NORMAL, copies_);
    if (result == ZE_RESULT_SUCCESS && !unused_) result = record_locked(changed_);
    if (result != ZE_RESULT_SUCCESS) return result;
    const QueueKind before = std::exchange(kind_, kind);
    if (unused_) return ZE_RESULT_SUCCESS;
    result = wait_locked(changed_);
    if (result != ZE_RESULT_SUCCESS) kind_ = before;
    return result;
}

ze_result_t Stream::barrier() {
    return calls().zeCommandListAppendBarrier(list(), nullptr, 0, nullptr);
}

ze_result_t Stream::add_barrier() {
    const std::lock_guard lock(mutex_);
    return barrier();
}

// A recorded event gets a new signal each time, since the old one may still be set.
ze_result_t Stream::record_locked(StreamPoint &event) {
    Signal *signal = nullptr;
    if (const ze_result_t result = Signals::of(device_).take(signal); result != ZE_RESULT_SUCCESS)
        return result;
    if (const ze_result_t result =
            calls().zeCommandListAppendBarrier(list(), signal->event, 0, nullptr);
        result != ZE_RESULT_SUCCESS)
        return result; // the signal is leaked, since it may or may not be set
    event.forget();
    event.signal_ = signal;
    return ZE_RESULT_SUCCESS;
}

ze_result_t Stream::record(StreamPoint &event) {
    const std::lock_guard lock(mutex_);
    return record_locked(event);
}

ze_result_t Stream::wait_locked(StreamPoint &event) {
    Signal *reader = nullptr;
    if (const ze_result_t result = Signals::of(device_).take(reader); result != ZE_RESULT_SUCCESS)
        return result;
    event.signal_->readers.push_back(reader);
    told_ = false;
    if (const ze_result_t result =
            calls().zeCommandListAppendBarrier(list(), nullptr, 1, &event.signal_->event);
        result != ZE_RESULT_SUCCESS)
        return result;
    return calls().zeCommandListAppendBarrier(list(), reader->event, 0, nullptr);
}

ze_result_t Stream::wait_for(StreamPoint &event) {
    if (event.signal_ == nullptr) return ZE_RESULT_SUCCESS;
    const std::lock_guard lock(mutex_);
    unused_ = false;
    return wait_locked(event);
}

ze_result_t Stream::record_end() {
    if (told_) return ZE_RESULT_SUCCESS;
    if (const ze_result_t result = record_locked(end_); result != ZE_RESULT_SUCCESS) return result;
    told_ = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t Stream::query() {
    const std::lock_guard lock(mutex_);
    if (const ze_result_t result = record_end(); result != ZE_RESULT_SUCCESS) return result;
    return end_.query();
}

ze_result_t Stream::synchronize() {
    const std::lock_guard lock(mutex_);
    if (const ze_result_t result = record_end(); result != ZE_RESULT_SUCCESS) return result;
    return end_.synchronize();
}

ze_result_t Stream::destroy() {
    const ze_result_t result = calls().zeCommandListDestroy(computes_);
    if (copies_ == nullptr) return result;
    const ze_result_t other = calls().zeCommandListDestroy(copies_);
    return result == ZE_RESULT_SUCCESS ? other : result;
}

} // namespace ucd::ze

using namespace ucd::ze;

gpuError_t gpuDeviceGetStreamPriorityRange(int *lowest, int *highest) {
    *lowest = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW;
    *highest = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
    return gpuSuccess;
}

gpuError_t gpuStreamCreateWithPriority(gpuStream_t *stream, unsigned, int priority) {
    const int device = current_device();
    ze_command_list_handle_t list = nullptr;
    if (const ze_result_t result =
            make_list(device, found().of(device).compute_queues,
                      static_cast<ze_command_queue_priority_t>(priority), list);
        result != ZE_RESULT_SUCCESS)
        return result;
    *stream = new Stream(list, device, Stream::Kind::own);
    return gpuSuccess;
}

gpuError_t gpuStreamDestroy(gpuStream_t stream) {
    const std::unique_ptr<Stream> ended(stream);
    return ended->destroy();
}

gpuError_t gpuStreamQuery(gpuStream_t stream) {
    return stream->query();
}

// Null stands for the tests' copies, which are synchronous.
gpuError_t gpuStreamSynchronize(gpuStream_t stream) {
    return stream == nullptr ? gpuSuccess : stream->synchronize();
}

gpuError_t gpuStreamWaitEvent(gpuStream_t stream, gpuEvent_t event) {
    return stream->wait_for(*event);
}

gpuError_t gpuEventCreateWithFlags(gpuEvent_t *event, unsigned) {
    *event = new StreamPoint;
    return gpuSuccess;
}

gpuError_t gpuEventRecord(gpuEvent_t event, gpuStream_t stream) {
    return stream->record(*event);
}

gpuError_t gpuEventQuery(gpuEvent_t event) {
    return event->query();
}

gpuError_t gpuEventSynchronize(gpuEvent_t event) {
    return event->synchronize();
}

gpuError_t gpuEventDestroy(gpuEvent_t event) {
    delete event;
    return gpuSuccess;
}
