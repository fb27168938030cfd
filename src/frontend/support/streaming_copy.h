// Copies to memory that is not read again soon.
#pragma once

#include <cstddef>

namespace ucd {

// From this length on, what was copied first has left the caches of a core before the rest has
// come.
inline constexpr std::size_t worth_streaming = std::size_t{8} << 20;

// As memcpy, but writes past the caches where the processor can: what is there is not loaded before
// it is overwritten.
void streaming_copy(char *to, const char *from, std::size_t bytes);

} // namespace ucd
