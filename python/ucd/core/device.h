// Arrays of which a protocol says that they are in device memory: libucd must not take it for the
// host's, which would read it and end the process.
#pragma once

#include "core/view.h"

namespace ucdpy {

// The hint that says where an array is.
enum class HintOf { inbuf, outbuf, none };

// How sure libucd is to notice by itself that memory is a device's: calls in a stream fail where
// the stream's device does not reach it. All others take an unknown address for the host's.
enum class Notices { yes, no };

// Raises NotSupported, with the reason, unless libucd can use the backend that an array is said to
// be in the memory of, and, if it does not notice that by itself, takes the array's memory for that
// with the hints of a call. `what` is for messages.
void require_device(const View &array, HintOf hint, ucd_info_t info, Notices notices,
                    const char *what);

// The same for the arrays of indices that a type reads.
void require_device(const IndexLists &indices, ucd_info_t info, Notices notices);

} // namespace ucdpy
