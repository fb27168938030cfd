#include "preload/packed_memory.h"

#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace ucd_mpi {
namespace {

constexpr int smallest_class = 12; // blocks of 4 KiB
constexpr int classes = 48;
constexpr std::size_t max_kept = std::size_t{256} << 20;

// Never destroyed: messages may be under way when the process ends.
struct Kept {
    std::mutex mutex;
    std::vector<void *> blocks[classes];
    std::size_t bytes = 0;
};
Kept &kept() {
    static Kept &all = *new Kept;
    return all;
}

} // namespace

PackedMemory::PackedMemory(std::size_t bytes)
    : size_class_(bytes <= 1 ? smallest_class : static_cast<int>(std::bit_width(bytes - 1))) {
    if (size_class_ < smallest_class) size_class_ = smallest_class;
    if (size_class_ >= classes) return;
    const std::size_t size = std::size_t{1} << size_class_;
    {
        Kept &k = kept();
        const std::lock_guard lock(k.mutex);
        std::vector<void *> &blocks = k.blocks[size_class_];
        if (!blocks.empty()) {
            data_ = blocks.back();
            blocks.pop_back();
            k.bytes -= size;
            return;
        }
    }
    data_ = std::aligned_alloc(64, size);
}

PackedMemory::~PackedMemory() {
    if (data_ == nullptr) return;
    const std::size_t size = std::size_t{1} << size_class_;
    {
        Kept &k = kept();
        const std::lock_guard lock(k.mutex);
        if (k.bytes + size <= max_kept) {
            k.blocks[size_class_].push_back(data_);
            k.bytes += size;
            return;
        }
    }
    std::free(data_);
}

} // namespace ucd_mpi
