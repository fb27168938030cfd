#include "support/streaming_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ucd {

#if defined(__SSE2__)

void streaming_copy(char *to, const char *from, std::size_t bytes) {
    constexpr std::size_t vector = sizeof(__m128i), line = 64;
    // Whole lines of the destination are streamed.
    const std::size_t head =
        std::min<std::size_t>(-reinterpret_cast<std::uintptr_t>(to) % line, bytes);
    std::memcpy(to, from, head);
    std::size_t at = head;
    for (; at + line <= bytes; at += line) {
        __m128i part[line / vector];
        for (std::size_t i = 0; i < line / vector; ++i)
            part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + at + i * vector));
        for (std::size_t i = 0; i < line / vector; ++i)
            _mm_stream_si128(reinterpret_cast<__m128i *>(to + at + i * vector), part[i]);
    }
    std::memcpy(to + at, from + at, bytes - at);
    _mm_sfence(); // who is told that the copy is complete sees it
}

#else

void streaming_copy(char *to, const char *from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}

#endif

} // namespace ucd
