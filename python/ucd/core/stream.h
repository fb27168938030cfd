// In which order with other work of a device a call moves data.
#pragma once

#include "core/view.h"

#include <vector>

namespace ucdpy {

// What a call does about streams. If in_stream, it enqueues its work into `native` and returns;
// otherwise it is complete on return, and what was enqueued for its arrays before is complete too.
struct Order {
    bool in_stream = false;
    bool captured = false; // into a graph
    // The stream's device moves data of another one, whose streams do not wait for it.
    bool between_devices = false;
    ucd_stream_t native{};

    // Waits for what is enqueued, on the device of an array. Not while a graph is captured.
    void wait(const View &array) const;

    // For a captured call: libucd wants it prepared, and its types alive as long as the graph. Both
    // is allowed during the capture. Needs the GIL. Returns a status.
    int make_capturable(std::vector<Typed> types, ucd_op_t op, ucd_info_t info) const;
};

// The order of a call that moves data between two arrays, with the stream= that it was given or
// None, and the indices that their types read. If neither array is in device memory there is no
// stream. If the device reaches all of these, the work goes into the given stream, or the current
// stream of the library that the arrays are from, after what other libraries have enqueued for
// these arrays; the host waits here for what another device has. If one is in pageable host memory,
// that stream is synchronised here.
Order order_of(const View &a, const View &b, const IndexLists &indices, nb::handle stream);

// Does the same for any number of arrays. `on_device` is the first one in device memory, or nullptr
// if there is none; `reaches_all` says whether its device reaches all others, indices included.
Order order_of(const View *on_device, bool reaches_all, nb::handle stream);

// Tells whether an array is on another device than the first one in device memory. If the device of
// one is not known, it is not.
bool is_of_another_device(const View &array, const View &first);

// This tells whether both are of one library, whose current stream is then that of both. Libraries
// without DLPack's exchange interface are told apart by the classes of their arrays.
bool are_of_one_library(const View &a, const View &b);

// Whether devices reach an array, because it is in device memory or in pinned host memory; or all
// arrays of indices.
bool devices_reach(const View &array);
bool devices_reach(const IndexLists &indices);

// Waits until what is enqueued for two arrays is complete, as far as they are in device memory.
void synchronize_producers(const View &a, const View &b);

// Does the same for the arrays of indices that a type reads.
void synchronize_producers(const IndexLists &indices);

// The number that DLPack's producers are to be given for a stream that a call was given, or None.
int64_t dlpack_stream_of(nb::handle stream);

// The address in a stream object: an integer, __cuda_stream__, torch's .cuda_stream, CuPy's .ptr,
// numba's .handle.
void *native_of(nb::handle stream);

} // namespace ucdpy
