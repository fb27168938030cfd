#include "preload/packed_memory.h"

#include <ucd_memory.h>

#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace ucd_mpi {
namespace {

constexpr int smallest_class = 12; // size class of blocks of 4 KiB
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
    bool keep(void *block, int size_class) {
        const std::size_t size = std::size_t{1} << size_class;
        const std::lock_guard lock(mutex);
        if (bytes + size > max_kept) return false;
        blocks[size_class].push_back(block);
        bytes += size;
        return true;
    }
};

// The blocks of pageable memory if `device` is null, else of memory pinned for the device.
KeptBlocks &kept_for(const Device *device) {
    static KeptBlocks &pageable = *new KeptBlocks;
    if (device == nullptr) return pageable;
    static std::mutex &mutex = *new std::mutex;
    static auto &pinned = *new std::map<const Device *, KeptBlocks>;
    const std::lock_guard lock(mutex);
    return pinned[device];
}

} // namespace

PackedMemory::PackedMemory(std::size_t bytes, const Device *device)
    : size_class_(bytes <= 1 ? smallest_class : static_cast<int>(std::bit_width(bytes - 1))),
      pinned_for_(device) {
    if (size_class_ < smallest_class) size_class_ = smallest_class;
    if (bytes == 0 || size_class_ >= classes) return;
    const std::size_t size = std::size_t{1} << size_class_;
    data_ = kept_for(pinned_for_).take(size_class_);
    if (data_ != nullptr) return;
    if (device != nullptr) {
        if (ucd_memory_alloc(device->name.c_str(), UCD_MEMORY__PINNED, size, &data_) == UCD_SUCCESS)
            return;
        pinned_for_ = nullptr;
    }
    data_ = std::aligned_alloc(64, size);
}

PackedMemory::~PackedMemory() {
    if (data_ == nullptr || kept_for(pinned_for_).keep(data_, size_class_)) return;
    if (pinned_for_ != nullptr)
        (void)ucd_memory_free(data_);
    else
        std::free(data_);
}

} // namespace ucd_mpi
