#include "preload/packed_memory.h"

#include <ucd_memory.h>

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace ucd_mpi {
namespace {

constexpr int smallest_class = 12; // size class of blocks of 4 KiB
constexpr int huge_page_class = 21;
constexpr int classes = 48;
constexpr std::size_t max_kept = std::size_t{256} << 20;

// Never destroyed, because messages may be in progress when the process ends.
struct KeptBlocks {
    std::mutex mutex;
    std::vector<void *> blocks[classes];
    std::size_t bytes = 0;

    void *take(int size_class) {
        const std::lock_guard lock(mutex);
        std::vector<void *> &free = blocks[size_class];
        if (free.empty()) return nullptr;
        void *const block = free.back();
        free.pop_back();
        bytes -= std::size_t{1} << size_class;
        return block;
    }
    // False if there is too much already. A part of a huge page is always kept, because it cannot
    // be given back alone.
    bool keep(void *block, int size_class, bool is_part) {
        const std::size_t size = std::size_t{1} << size_class;
        const std::lock_guard lock(mutex);
        if (!is_part && bytes + size > max_kept) return false;
        blocks[size_class].push_back(block);
        bytes += size;
        return true;
    }
};

// The blocks of pageable memory if `device` is null, else of memory pinned for the device.
KeptBlocks &kept_for(const NamedDevice *device) {
    static KeptBlocks &pageable = *new KeptBlocks;
    if (device == nullptr) return pageable;
    static std::mutex &mutex = *new std::mutex;
    static auto &pinned = *new std::map<const NamedDevice *, KeptBlocks>;
    const std::lock_guard lock(mutex);
    return pinned[device];
}

bool is_part_of_huge_page(int size_class, const NamedDevice *pinned_for) {
    return pinned_for == nullptr && size_class < huge_page_class;
}

// Whole huge pages, if the kernel has some. MPI libraries let the kernel copy between two
// processes, which then looks up a page for each 2 MiB, not for each 4 KiB; and packing has fewer
// misses in the TLB.
void *allocate_huge_pages(int size_class) {
    const std::size_t bytes = std::size_t{1} << size_class;
    void *const block = std::aligned_alloc(std::size_t{1} << huge_page_class, bytes);
#ifdef MADV_HUGEPAGE
    if (block != nullptr) (void)madvise(block, bytes, MADV_HUGEPAGE);
#endif
    return block;
}

// A block that is smaller than a huge page is half of a larger block.
void *take_pageable(int size_class) {
    KeptBlocks &kept = kept_for(nullptr);
    if (void *const block = kept.take(size_class)) return block;
    if (size_class >= huge_page_class) return allocate_huge_pages(size_class);
    char *const both = static_cast<char *>(take_pageable(size_class + 1));
    if (both != nullptr) kept.keep(both + (std::size_t{1} << size_class), size_class, true);
    return both;
}

} // namespace

PackedMemory::PackedMemory(std::size_t bytes, const NamedDevice *device)
    : size_class_(bytes <= 1 ? smallest_class : static_cast<int>(std::bit_width(bytes - 1))),
      pinned_for_(device) {
    if (size_class_ < smallest_class) size_class_ = smallest_class;
    if (bytes == 0 || size_class_ >= classes) return;
    if (device != nullptr) {
        data_ = kept_for(device).take(size_class_);
        if (data_ != nullptr ||
            ucd_memory_alloc(device->name.c_str(), UCD_MEMORY__PINNED,
                             std::size_t{1} << size_class_, &data_) == UCD_SUCCESS)
            return;
        pinned_for_ = nullptr;
    }
    data_ = take_pageable(size_class_);
}

PackedMemory::~PackedMemory() {
    if (data_ == nullptr ||
        kept_for(pinned_for_)
            .keep(data_, size_class_, is_part_of_huge_page(size_class_, pinned_for_)))
        return;
    if (pinned_for_ != nullptr)
        (void)ucd_memory_free(data_);
    else
        std::free(data_);
}

} // namespace ucd_mpi
