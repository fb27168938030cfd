// How much of the heap is in use.
#pragma once

#include <cstddef>
#include <malloc.h>

extern "C" __attribute__((weak)) std::size_t __sanitizer_get_current_allocated_bytes();

namespace ucdfuzz {

inline std::size_t live_bytes() {
    if (&__sanitizer_get_current_allocated_bytes != nullptr)
        return __sanitizer_get_current_allocated_bytes();
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

} // namespace ucdfuzz
