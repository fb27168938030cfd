// Whether the host can read an address, for drivers that do not say whose memory it is in.
#pragma once

namespace ucd::gpu {

// True of all of the host's memory that can be read, and never of memory that only devices reach.
// Memory that has been unmapped since this thread last asked may still be called readable.
bool is_host_readable(const void *address);

} // namespace ucd::gpu
