// Memory that is surely the host's, known without asking a driver: what the C library's malloc
// takes from brk, and the calling thread's stack. Kernels give that memory to a process; drivers
// map device memory elsewhere. A small message is mostly there, and asking drivers takes longer
// than moving it.
#pragma once

namespace ucd {

// Whether the address is in one of the two. What is not may be host memory all the same. Memory
// that a driver has pinned counts: the CPU reaches it.
bool in_heap_or_stack(const void *address);

} // namespace ucd
