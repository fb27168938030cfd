// Graphs of the host vendor: what a stream was given while it was captured, to be done again. And
// what else only its tests ask for.
#pragma once

#include "backend.h"
#include "support/fake_device/fake_driver.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ucd::hostgpu {

// The backend that runs on these devices.
Owner<Backend> make_backend();

struct Graph {
    std::vector<std::function<void()>> nodes;
    std::vector<std::shared_ptr<void>> kept; // until the graph goes
};

// In mode Global: see captures.cpp.
void begin_capture(mock::Stream &stream);
Graph end_capture(mock::Stream &stream);
// What the call puts into the stream.
template <class Call>
Graph captured(mock::Stream &stream, Call call) {
    begin_capture(stream);
    call();
    return end_capture(stream);
}
bool is_being_captured(mock::Stream &stream);
// For as long as the graph that the stream is being captured into.
void keep_with_capture(mock::Stream &stream, std::shared_ptr<void> what);
void replay(const Graph &graph, mock::Stream &stream);

// Graphs are those of a driver that tells nobody when they go.
extern std::atomic<bool> graphs_keep_nothing;

// n: the n-th call of the runtime from now on fails, whichever it is. 0: none.
extern std::atomic<int> failing_call;
// The name of the last one that failed so.
extern std::atomic<const char *> refused_call;

// Allocations fail until memory is given back.
extern std::atomic<bool> is_memory_full;

// Uploads of lists arrive in their stream's time, which is some milliseconds later, and not at
// once.
extern std::atomic<bool> slow_uploads;

// What the runtime has given out and not got back.
extern std::atomic<int> live_streams, live_events;

// How often memory of a device was freed. Drivers wait for the device then.
extern std::atomic<int> freed_memories;

// Bytes of lists that have been uploaded since the last call.
std::size_t uploaded_bytes();

// The kernels that have been launched since the last call.
std::vector<std::string> kernels_launched();

// The same with commas in between.
std::string names_launched();

// What they were given, since the last call; of the last few of them, in their order.
inline constexpr std::size_t max_parameters_kept = 16;
std::deque<std::vector<char>> parameters_launched();

// How often several plain copies, or one, have been handed over together.
extern std::atomic<int> plain_copy_calls;

// The kernels that have been loaded without a launch, since the last call.
std::set<std::string> kernels_loaded();

// Of each device.
inline constexpr int processors = 3;

// Bytes that each block of a kernel has stored, since the last call; of all kernels.
std::vector<std::size_t> stored_by_blocks();

} // namespace ucd::hostgpu
