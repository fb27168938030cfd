// The body of the kernel that unpacks with aligned stores.
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

UCD_GPU_FUNCTION void unpack_aligned_store(const AlignedStoresParams &p, uint32_t index) {
    const uint32_t periods = quotient(index, p.stores);
    const auto *entry =
        reinterpret_cast<const AlignedStore *>(p.list) + (index - periods * p.stores.value);
    const int32_t displacement = load_table(&entry->displacement);
    const uint32_t where = load_table(&entry->position);
    const uint32_t bytes = where % 16;
    uint32_t rest = p.first + periods;
    const uint64_t position = uint64_t{rest} * p.period + where / 16;
    uintptr_t place = p.typed + static_cast<uintptr_t>(static_cast<int64_t>(displacement));
    for (uint32_t k = 0; k < p.levels; ++k) {
        const uint32_t child = quotient(rest, p.level[k].each);
        rest -= child * p.level[k].each.value;
        place += static_cast<uintptr_t>(child) *
                 static_cast<uintptr_t>(int64_t{p.level[k].stride}) * max_store_bytes;
    }
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

UCD_GPU_FUNCTION void run_aligned_stores(const AlignedStoresParams &p) {
    UCD_GPU_FOR_EACH_THREAD(thread) {
        const uint32_t step = UCD_GPU_BLOCKS * threads_per_block;
        for (uint32_t i = UCD_GPU_BLOCK * threads_per_block + thread; i < p.count; i += step)
            unpack_aligned_store(p, i);
    }
}

} // namespace ucd::UCD_GPU
