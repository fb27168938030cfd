// Tests whether the host can read an address, for drivers that do not know the owner of all memory.
#pragma once

namespace ucd::gpu {

// True for all readable host memory, and never for memory that only devices can access. The result
// may be outdated for memory that was unmapped since this thread's last call.
bool is_host_readable(const void *address);

} // namespace ucd::gpu
