// What the parts of the runtime have in common.
#pragma once

#include <atomic>
#include <cstddef>

namespace ucd::hostgpu {

extern thread_local int current_device;

// Whether a knob says that this is the one to fail.
bool is_failing_one(std::atomic<int> &knob);

// Whether this call of the runtime is the one to fail. Calls that give something back do so all the
// same.
bool is_refused(const char *call = __builtin_FUNCTION());

// Whether a stream is being captured that this call of this thread ends.
bool ends_captures(const char *call);
void note_capture_begins();
void note_capture_ends(); // throws if a call has ended it

bool is_pageable(const void *address);

// Whether the bytes begin in memory of the driver's and end behind it. Drivers refuse copies of
// such bytes; they know nothing of other memory.
bool is_in_several_allocations(const void *address, std::size_t bytes);

} // namespace ucd::hostgpu
