// Access to words whose width is known only at run time, from the parameters or from a table.
#pragma once

#include "kernels/words.h"

namespace ucd::UCD_GPU {

// The width is at most 8 bytes.
UCD_GPU_FUNCTION uint64_t load_word(uintptr_t place, uint32_t width) {
    switch (width) {
    case 8: return load<uint64_t>(place);
    case 4: return load<uint32_t>(place);
    case 2: return load<uint16_t>(place);
    default: return load<uint8_t>(place);
    }
}
UCD_GPU_FUNCTION void store_word(uintptr_t place, uint32_t width, uint64_t word) {
    switch (width) {
    case 8: store<uint64_t>(place, word); break;
    case 4: store<uint32_t>(place, static_cast<uint32_t>(word)); break;
    case 2: store<uint16_t>(place, static_cast<uint16_t>(word)); break;
    default: store<uint8_t>(place, static_cast<uint8_t>(word)); break;
    }
}

} // namespace ucd::UCD_GPU
