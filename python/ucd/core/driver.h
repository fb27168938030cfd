// What a GPU's driver does for the order of work, and libucd's interface does not: waiting for a
// stream, ordering two streams, and keeping what a graph uses. The driver is looked up when it is
// first needed; arrays in device memory mean that it is loaded.
#pragma once

#include "core/view.h"

#include <vector>

namespace ucdpy::driver {

// Waits, without the GIL, until what was enqueued into a stream is complete. Of a default stream of
// CUDA, that of the array's device; of HIP, that of the current device. Raises RuntimeError if the
// driver fails or is not there.
void wait_for(const View &array, void *stream);

// Lets `later` wait for what `earlier` has now, two streams of an array's device; whether that
// worked.
bool order(const View &array, void *earlier, void *later) noexcept;

// Whether a stream is being captured into a graph.
bool is_captured(const ucd_stream_t &stream) noexcept;

// Keeps types until the graph that a stream is being captured into is destroyed, and those made
// from it; for ever if the driver cannot tell when. Needs the GIL.
void keep_with_graph(const ucd_stream_t &stream, std::vector<Typed> types);

} // namespace ucdpy::driver
