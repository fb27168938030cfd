// Unpacks with aligned stores.
#pragma once

#include "kernels/divide.h"
#include "kernels/words.h"
#include "params/aligned_stores.h"

namespace ucd::UCD_GPU {

// Loads the 8 bytes at an address of any alignment. The aligned words that contain them must all be
// within the range.
UCD_GPU_FUNCTION uint64_t load_unaligned(uintptr_t address) {
    const uintptr_t aligned = address & ~uintptr_t{7};
    const auto shift = static_cast<uint32_t>(address - aligned) * 8;
    const uint64_t low = load<uint64_t>(aligned);
    return shift == 0 ? low : low >> shift | load<uint64_t>(aligned + 8) << (64 - shift);
}

// Where a period begins.
struct Period {
    uintptr_t typed;
    uint64_t position; // in the stream
};

// Makes the store of this number among those of all periods. period_at(number) finds a period.
template <class PeriodAt>
UCD_GPU_FUNCTION void unpack_aligned_store(const AlignedStoresRange &p, uint32_t index,
                                           PeriodAt period_at) {
    const uint32_t periods = quotient(index, p.stores);
    const auto *entry =
        reinterpret_cast<const AlignedStore *>(p.list) + (index - periods * p.stores.value);
    const int32_t displacement = load_table(&entry->displacement);
    const uint32_t where = load_table(&entry->position);
    const uint32_t bytes = where % 16;
    const Period period = period_at(p.first + periods);
    const uint64_t position = period.position + where / 16;
    const uintptr_t place = period.typed + static_cast<uintptr_t>(int64_t{displacement});
    const uintptr_t from = p.packed + position;
    // The eight bytes before and after the stored ones are also in the range, so unaligned loads
    // are safe.
    if (position >= p.begin + max_store_bytes &&
        position + static_cast<uint64_t>(2 * max_store_bytes) <= p.end) {
        const uint64_t word = load_unaligned(from);
        if (bytes == 8)
            store<uint64_t>(place, word);
        else if (bytes == 4)
            store<uint32_t>(place, static_cast<uint32_t>(word));
        else if (bytes == 2)
            store<uint16_t>(place, static_cast<uint16_t>(word));
        else
            store<uint8_t>(place, static_cast<uint8_t>(word));
        return;
    }
    for (uint32_t i = 0; i < bytes; ++i)
        if (position + i >= p.begin && position + i < p.end)
            store<uint8_t>(place + i, load<uint8_t>(from + i));
}

} // namespace ucd::UCD_GPU
