// Arrays of which a protocol says that they are in device memory: libucd must not take it for the
// host's, which would read it and end the process.
#pragma once

#include "core/view.h"

#include <string>
#include <vector>

namespace ucdpy {

// The hint that says where an array is.
enum class HintOf { inbuf, outbuf, none };

// Says whether libucd itself refuses memory that it does not know to be a device's. Calls in a
// stream do, because they fail if the stream's device does not reach the memory. All other calls
// take an unknown address for the host's.
enum class Notices { yes, no };

// Reads the variables of the environment that are hints. Called just before ucd_init.
void read_environment();

// Raises NotSupported, with the reason, in two cases. The first is that libucd cannot use the
// backend whose memory the array's protocol names. The second, for Notices::no, is that libucd with
// the hints of the call would take the array for host memory. `what` is the array's name in
// messages.
void require_device(const View &array, HintOf hint, ucd_info_t info, Notices notices,
                    const char *what);

// Does the same for the arrays of indices that a type reads.
void require_device(const IndexLists &indices, ucd_info_t info, Notices notices);

// The memory that an array is in, as libucd names it: "host" or "cuda:0".
std::string memory_of(const View &array);

// The backends of libucd. May initialise drivers.
std::vector<ucd_backend_desc_t> backend_list();

} // namespace ucdpy
