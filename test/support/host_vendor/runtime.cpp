#include "support/host_vendor/capture.h"
#include "support/host_vendor/state.h"
#include "vendor.h"

#include "support/fake_device/fake_driver.h"
#include "support/spared_allocations.hpp"

#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace ucd::hostgpu {

thread_local Grid grid;
thread_local std::size_t stored_bytes = 0;
thread_local int current_device = 0;

bool is_failing_one(std::atomic<int> &knob) {
    int n = knob;
    while (n > 0)
        if (knob.compare_exchange_weak(n, n - 1)) return n == 1;
    return false;
}

std::atomic<int> failing_call{0}, live_streams{0}, live_events{0}, freed_memories{0};

std::atomic<const char *> refused_call{""};
std::atomic<bool> slow_uploads{false}, graphs_keep_nothing{false};

bool is_refused(const char *call) {
    if (ends_captures(call)) return true;
    // Of queries one behind the other, and what goes with each, the first few count: how many there
    // are depends on how long the work takes, and on a busy machine there would be no last one.
    static std::atomic<int> queries_in_a_row{0};
    const bool is_query = std::string_view(call).ends_with("Query") ||
                          std::string_view(call) == "gpuThreadExchangeStreamCaptureMode";
    if (!is_query) queries_in_a_row = 0;
    if (is_query && ++queries_in_a_row > 8) return false;
    if (!is_failing_one(failing_call)) return false;
    refused_call = call;
    return true;
}

namespace {

// Work of a stream by number, and what failed of it.
struct Line {
    std::mutex order; // of submissions: several threads may use a stream
    std::atomic<uint64_t> submitted{0}, completed{0};
    std::mutex mutex;
    std::map<uint64_t, std::string> failures;
    std::optional<Graph> capture;
};

struct Lines {
    std::mutex mutex;
    std::map<mock::Stream *, std::shared_ptr<Line>> lines;
};
Lines &lines() {
    static Lines *l = new Lines;
    return *l;
}

std::shared_ptr<Line> line_of(mock::Stream *stream) {
    const ucdtest::SpareAllocations spared;
    const std::lock_guard lock(lines().mutex);
    auto &line = lines().lines[stream];
    if (line == nullptr) line = std::make_shared<Line>();
    return line;
}

std::atomic<std::size_t> uploads{0};

struct Launched {
    std::mutex mutex;
    std::vector<std::string> kernels;
    std::deque<std::vector<char>> parameters;
    std::set<std::string> loaded;
    std::vector<std::size_t> stored; // by block
};
Launched launched;

} // namespace

struct EventState {
    std::shared_ptr<Line> line; // null: never recorded
    uint64_t number = 0;
};

// Memory --------------------------------------------------------------

namespace {

// What a device's thread has lately found. Forgotten with each kernel, since memory may be freed.
struct View {
    int device = 0;
    mock::Allocation known[4];
    unsigned next = 0;
};
thread_local View view;

bool holds(const mock::Allocation &a, uintptr_t address, std::size_t bytes) {
    const uintptr_t into = address - reinterpret_cast<uintptr_t>(a.address);
    return a.address != nullptr && into < a.bytes && bytes <= a.bytes - into;
}

void *in_memory(const mock::Allocation &a, uintptr_t address) {
    return a.memory + (address - reinterpret_cast<uintptr_t>(a.address));
}

} // namespace

void *device_memory(uintptr_t address, std::size_t bytes) {
    for (const mock::Allocation &a : view.known)
        if (holds(a, address, bytes)) return in_memory(a, address);
    mock::Allocation found;
    if (!mock::find(reinterpret_cast<const void *>(address), found) ||
        !holds(found, address, bytes) || !mock::reaches(view.device, found.kind, found.device)) {
        char text[128];
        std::snprintf(text, sizeof text, "device %d does not reach %zu bytes at %#zx", view.device,
                      bytes, address);
        throw std::runtime_error(text);
    }
    view.known[view.next++ % 4] = found;
    return in_memory(found, address);
}

void require_aligned(uintptr_t address, std::size_t bytes) {
    if (address % bytes != 0) throw std::runtime_error("a misaligned access");
}

// Streams --------------------------------------------------------------

namespace {

// Puts work into a stream, or into the graph that is being made of it.
template <class Body>
void submit(mock::Stream *stream, Body body) {
    const ucdtest::SpareAllocations spared;
    const std::shared_ptr<Line> line = line_of(stream);
    auto work = [stream, body = std::move(body)] {
        view = {};
        view.device = stream->device();
        body();
    };
    if (line->capture) return line->capture->nodes.push_back(std::move(work));
    const std::lock_guard lock(line->order);
    const uint64_t number = ++line->submitted;
    stream->add([stream, line, number, work = std::move(work)] {
        try {
            if (is_failing_one(mock::knobs.failing_work))
                throw std::runtime_error("the work failed, as it was told to");
            work();
        } catch (const std::exception &e) {
            stream->fail(e.what());
            const std::lock_guard held(line->mutex);
            line->failures[number] = e.what();
        }
        line->completed = number;
    });
}

} // namespace

void begin_capture(mock::Stream &stream) {
    line_of(&stream)->capture.emplace();
    note_capture_begins();
}

Graph end_capture(mock::Stream &stream) {
    const std::shared_ptr<Line> line = line_of(&stream);
    Graph graph = std::move(*line->capture);
    line->capture.reset();
    note_capture_ends();
    return graph;
}

bool is_being_captured(mock::Stream &stream) {
    return line_of(&stream)->capture.has_value();
}

void keep_with_capture(mock::Stream &stream, std::shared_ptr<void> what) {
    line_of(&stream)->capture->kept.push_back(std::move(what));
}

void replay(const Graph &graph, mock::Stream &stream) {
    for (const auto &node : graph.nodes) submit(&stream, node);
}

std::size_t uploaded_bytes() {
    return uploads.exchange(0);
}

std::vector<std::size_t> stored_by_blocks() {
    const std::lock_guard lock(launched.mutex);
    return std::exchange(launched.stored, {});
}

std::vector<std::string> kernels_launched() {
    const std::lock_guard lock(launched.mutex);
    return std::exchange(launched.kernels, {});
}

std::string names_launched() {
    std::string names;
    for (const std::string &name : kernels_launched()) names += (names.empty() ? "" : ", ") + name;
    return names;
}

std::deque<std::vector<char>> parameters_launched() {
    const std::lock_guard lock(launched.mutex);
    return std::exchange(launched.parameters, {});
}

std::set<std::string> kernels_loaded() {
    const std::lock_guard lock(launched.mutex);
    return std::exchange(launched.loaded, {});
}

namespace {

void note_block() {
    const std::lock_guard lock(launched.mutex);
    launched.stored.push_back(std::exchange(stored_bytes, 0));
}

void note_kernel(const Kernel &kernel, const void *params) {
    const ucdtest::SpareAllocations spared;
    const std::lock_guard lock(launched.mutex);
    launched.kernels.emplace_back(kernel.name);
    const auto *const bytes = static_cast<const char *>(params);
    launched.parameters.emplace_back(bytes, bytes + kernel.param_bytes);
    if (launched.parameters.size() > max_parameters_kept) launched.parameters.pop_front();
}

void note_loaded(const Kernel &kernel) {
    const ucdtest::SpareAllocations spared;
    const std::lock_guard lock(launched.mutex);
    launched.loaded.emplace(kernel.name);
}

} // namespace

} // namespace ucd::hostgpu

// The runtime --------------------------------------------------------------

using namespace ucd::hostgpu;

namespace {

thread_local std::string last_failure;

// How the work of a stream has gone, up to a number. A failure is told once.
gpuError_t state_of(Line &line, uint64_t number) {
    if (line.completed < number) return gpuErrorNotReady;
    const std::lock_guard lock(line.mutex);
    if (line.failures.empty() || line.failures.begin()->first > number) return gpuSuccess;
    last_failure = line.failures.begin()->second;
    line.failures.erase(line.failures.begin(), line.failures.upper_bound(number));
    return gpuErrorFailed;
}

} // namespace

const char *gpuGetErrorString(gpuError_t error) {
    switch (error) {
    case gpuErrorNotSupported: return "not supported";
    case gpuSuccess: return "no error";
    case gpuErrorNotReady: return "not ready";
    case gpuErrorMemoryAllocation: return "out of memory";
    case gpuErrorPeerAccessAlreadyEnabled: return "peer access is enabled already";
    case gpuErrorRefused: return "refused, as it was told to";
    case gpuErrorInvalidValue: return "a side of the copy is in several allocations";
    case gpuErrorInvalidHandle: return "the handle is of no memory that can be reached";
    case gpuErrorInvalidConfiguration: return "a launch of no blocks";
    case gpuErrorFailed: return last_failure.c_str();
    }
    return "unknown";
}

gpuError_t gpuGetLastError() {
    return gpuSuccess;
}

gpuError_t gpuDeviceGetAttribute(int *value, int, int) {
    if (is_refused()) return gpuErrorRefused;
    *value = ucd::hostgpu::processors;
    return gpuSuccess;
}

gpuError_t gpuDeviceGetStreamPriorityRange(int *lowest, int *highest) {
    if (is_refused()) return gpuErrorRefused;
    *lowest = 0;
    *highest = -1;
    return gpuSuccess;
}

gpuError_t gpuDeviceCanAccessPeer(int *can, int, int) {
    if (is_refused()) return gpuErrorRefused;
    *can = mock::knobs.peers;
    return gpuSuccess;
}

gpuError_t gpuDeviceEnablePeerAccess(int, unsigned) {
    if (is_refused()) return gpuErrorRefused;
    return mock::knobs.peers ? gpuSuccess : gpuErrorRefused;
}

gpuError_t gpuStreamCreateWithPriority(gpuStream_t *stream, unsigned, int) {
    if (is_failing_one(mock::knobs.failing_handle) || is_refused()) return gpuErrorRefused;
    const ucdtest::SpareAllocations spared;
    *stream = new mock::Stream(current_device);
    ++live_streams;
    return gpuSuccess;
}

gpuError_t gpuStreamDestroy(gpuStream_t stream) {
    stream->synchronise();
    {
        const std::lock_guard lock(lines().mutex);
        lines().lines.erase(stream);
    }
    delete stream;
    --live_streams;
    return is_refused() ? gpuErrorRefused : gpuSuccess;
}

gpuError_t gpuStreamSynchronize(gpuStream_t stream) {
    if (is_refused()) return gpuErrorRefused;
    stream->synchronise();
    return gpuSuccess;
}

gpuError_t gpuStreamWaitEvent(gpuStream_t stream, gpuEvent_t event) {
    if (is_refused()) return gpuErrorRefused;
    const EventState state = *event;
    submit(stream, [state] {
        while (state.line->completed < state.number) std::this_thread::yield();
    });
    return gpuSuccess;
}

gpuError_t gpuStreamIsCapturing(gpuStream_t stream, gpuStreamCaptureStatus *status) {
    if (is_refused()) return gpuErrorRefused;
    *status =
        is_being_captured(*stream) ? gpuStreamCaptureStatusActive : gpuStreamCaptureStatusNone;
    return gpuSuccess;
}

gpuError_t gpuEventCreateWithFlags(gpuEvent_t *event, unsigned) {
    if (is_failing_one(mock::knobs.failing_handle) || is_refused()) return gpuErrorRefused;
    const ucdtest::SpareAllocations spared;
    *event = new EventState;
    ++live_events;
    return gpuSuccess;
}

gpuError_t gpuEventRecord(gpuEvent_t event, gpuStream_t stream) {
    if (is_failing_one(mock::knobs.failing_handle) || is_refused()) return gpuErrorRefused;
    ++mock::counts.events_recorded;
    event->line = line_of(stream);
    event->number = event->line->submitted;
    return gpuSuccess;
}

gpuError_t gpuEventQuery(gpuEvent_t event) {
    ++mock::counts.polls;
    if (is_refused()) return gpuErrorRefused;
    if (event->line == nullptr) return gpuSuccess;
    return state_of(*event->line, event->number);
}

gpuError_t gpuStreamQuery(gpuStream_t stream) {
    if (is_refused()) return gpuErrorRefused;
    const std::shared_ptr<Line> line = line_of(stream);
    return state_of(*line, line->submitted);
}

gpuError_t gpuEventSynchronize(gpuEvent_t event) {
    for (;;) {
        const gpuError_t state = gpuEventQuery(event);
        if (state != gpuErrorNotReady) return state;
        std::this_thread::yield();
    }
}

gpuError_t gpuEventDestroy(gpuEvent_t event) {
    delete event;
    --live_events;
    return is_refused() ? gpuErrorRefused : gpuSuccess;
}

gpuError_t gpuMemcpyAsync(void *to, const void *from, std::size_t bytes, gpuMemcpyKind,
                          gpuStream_t stream) {
    if (is_failing_one(mock::knobs.failing_launch) || is_refused()) return gpuErrorRefused;
    if (is_in_several_allocations(to, bytes) || is_in_several_allocations(from, bytes))
        return gpuErrorInvalidValue;
    // Pageable memory has been read when the call returns: lists on their way to the device.
    if (is_pageable(from)) {
        uploads += bytes;
        if (!slow_uploads) {
            mock::write(to, from, bytes);
            return gpuSuccess;
        }
        const auto *const first = static_cast<const char *>(from);
        submit(stream, [to, read = std::vector<char>(first, first + bytes)] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            mock::write(to, read.data(), read.size());
        });
        return gpuSuccess;
    }
    ++mock::counts.copies;
    submit(stream, [=] {
        std::memcpy(device_memory(reinterpret_cast<uintptr_t>(to), bytes),
                    device_memory(reinterpret_cast<uintptr_t>(from), bytes), bytes);
    });
    return gpuSuccess;
}

gpuError_t gpuMemcpy2DAsync(void *to, std::size_t to_pitch, const void *from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            gpuMemcpyKind kind, gpuStream_t stream) {
    const gpuMemcpy3DParms copy = {{const_cast<void *>(from), from_pitch, from_pitch, height},
                                   {to, to_pitch, to_pitch, height},
                                   {width, height, 1},
                                   kind};
    return gpuMemcpy3DAsync(&copy, stream);
}

gpuError_t gpuMemcpy3DAsync(const gpuMemcpy3DParms *copy, gpuStream_t stream) {
    if (is_failing_one(mock::knobs.failing_launch) || is_refused()) return gpuErrorRefused;
    constexpr std::size_t longest_pitch = INT32_MAX, max_rows = INT32_MAX;
    const gpuExtent extent = copy->extent;
    const gpuPitchedPtr from = copy->srcPtr, to = copy->dstPtr;
    for (const gpuPitchedPtr &side : {from, to})
        if (side.pitch < extent.width || side.pitch > longest_pitch || side.xsize < extent.width ||
            side.ysize < extent.height || side.ysize > max_rows || extent.depth > max_rows)
            return gpuErrorRefused;
    for (const gpuPitchedPtr &side : {from, to})
        if (is_in_several_allocations(
                side.ptr,
                ((extent.depth - 1) * side.ysize + extent.height - 1) * side.pitch + extent.width))
            return gpuErrorInvalidValue;
    ++mock::counts.copies;
    submit(stream, [=] {
        const auto row = [](const gpuPitchedPtr &side, std::size_t y, std::size_t z) {
            return reinterpret_cast<uintptr_t>(side.ptr) + (z * side.ysize + y) * side.pitch;
        };
        for (std::size_t z = 0; z < extent.depth; ++z)
            for (std::size_t y = 0; y < extent.height; ++y)
                std::memcpy(device_memory(row(to, y, z), extent.width),
                            device_memory(row(from, y, z), extent.width), extent.width);
    });
    return gpuSuccess;
}

gpuError_t gpuLaunchKernel(const void *handle, ucd::hostgpu::dim3 blocks, ucd::hostgpu::dim3,
                           void **arguments, std::size_t, gpuStream_t stream) {
    if (is_failing_one(mock::knobs.failing_launch) || is_refused()) return gpuErrorRefused;
    if (blocks.x == 0) return gpuErrorInvalidConfiguration; // as of any vendor
    ++mock::counts.launches;
    const ucdtest::SpareAllocations spared;
    ++mock::counts.moves;
    const auto &kernel = *static_cast<const Kernel *>(handle);
    ucd::hostgpu::note_kernel(kernel, arguments[0]);
    struct alignas(16) Chunk {
        char bytes[16];
    };
    std::vector<Chunk> params((kernel.param_bytes + 15) / 16);
    std::memcpy(params.data(), arguments[0], kernel.param_bytes);
    submit(stream, [&kernel, params = std::move(params), blocks] {
        for (uint32_t block = 0; block < blocks.x; ++block) {
            grid = {block, blocks.x};
            kernel.run(params.data());
            ucd::hostgpu::note_block();
        }
    });
    return gpuSuccess;
}

gpuError_t gpuFuncGetAttributes(gpuFuncAttributes *, const void *handle) {
    if (is_refused()) return gpuErrorRefused;
    ucd::hostgpu::note_loaded(*static_cast<const Kernel *>(handle));
    return gpuSuccess;
}
