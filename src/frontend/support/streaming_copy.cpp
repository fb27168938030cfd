#include "support/streaming_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ucd {
namespace {

#if defined(__SSE2__)

void stream(char *to, const char *from, std::size_t bytes) {
    constexpr std::size_t vector = sizeof(__m128i), line = 64;
    constexpr std::size_t ahead = 2048; // of what is loaded; it may be behind the end
    // Whole lines of the destination are streamed.
    const std::size_t head =
        std::min<std::size_t>(-reinterpret_cast<std::uintptr_t>(to) % line, bytes);
    if (head > 0) std::memcpy(to, from, head);
    std::size_t at = head;
    for (; at + line <= bytes; at += line) {
        __m128i part[line / vector];
        _mm_prefetch(from + at + ahead, _MM_HINT_T0);
        for (std::size_t i = 0; i < line / vector; ++i)
            part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + at + i * vector));
        for (std::size_t i = 0; i < line / vector; ++i)
            _mm_stream_si128(reinterpret_cast<__m128i *>(to + at + i * vector), part[i]);
    }
    if (at < bytes) std::memcpy(to + at, from + at, bytes - at);
}

#else

void stream(char *to, const char *from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}

#endif

} // namespace

void streaming_copy(char *to, const char *from, std::size_t bytes) {
    stream(to, from, bytes);
    end_streaming();
}

void stream_rows(char *to, std::int64_t stride, const char *from, std::size_t row,
                 std::uint64_t rows) {
    for (std::uint64_t i = 0; i < rows; ++i)
        stream(to + static_cast<std::int64_t>(i) * stride, from + i * row, row);
}

void end_streaming() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

} // namespace ucd
