#include "preload/packed_memory.h"

#include <ucd_memory.h>

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace ucd_mpi {
namespace {

constexpr int smallest_class = 12;  // size class of blocks of 4 KiB
constexpr int undivided_class = 21; // of 2 MiB: smaller blocks are halves of larger ones
constexpr int classes = 48;
constexpr std::size_t max_kept = std::size_t{256} << 20;
constexpr std::size_t max_kept_on_device = std::size_t{512} << 20;

// Never destroyed, because messages may be in progress when the process ends.
struct KeptBlocks {
    std::mutex mutex;
    std::vector<void *> blocks[classes];
    std::size_t bytes = 0; // of undivided blocks

    void *take(int size_class) {
        const std::lock_guard lock(mutex);
        std::vector<void *> &free = blocks[size_class];
        if (free.empty()) return nullptr;
        void *const block = free.back();
        free.pop_back();
        if (size_class >= undivided_class) bytes -= std::size_t{1} << size_class;
        return block;
    }
    // For memory of a device: frees undivided blocks, the smallest ones first, until no more than
    // so many bytes are left. False if there were no more.
    bool free_down_to(std::size_t left) {
        const std::lock_guard lock(mutex);
        if (bytes <= left) return false;
        for (int size_class = undivided_class; size_class < classes && bytes > left; ++size_class)
            for (std::vector<void *> &free = blocks[size_class]; !free.empty() && bytes > left;) {
                (void)ucd_memory_free(free.back());
                free.pop_back();
                bytes -= std::size_t{1} << size_class;
            }
        return true;
    }
    // False if there is too much already. A half is always kept, because it cannot be freed alone.
    bool keep(void *block, int size_class, std::size_t most) {
        const std::size_t size = std::size_t{1} << size_class;
        const std::lock_guard lock(mutex);
        if (size_class >= undivided_class) {
            if (bytes + size > most) return false;
            bytes += size;
        }
        blocks[size_class].push_back(block);
        return true;
    }
};

// The blocks in the memory of a route.
KeptBlocks &kept_for(DeviceRoute route) {
    static KeptBlocks &pageable = *new KeptBlocks;
    if (!route) return pageable;
    static std::mutex &mutex = *new std::mutex;
    static auto &others = *new std::map<std::pair<const NamedDevice *, bool>, KeptBlocks>;
    const std::lock_guard lock(mutex);
    return others[{route.device, route.stays_there}];
}

std::size_t max_kept_for(DeviceRoute route) {
    return route.stays_there ? max_kept_on_device : max_kept;
}

// Whole huge pages, if the kernel has some. MPI libraries let the kernel copy between two
// processes, which then looks up a page for each 2 MiB, not for each 4 KiB; and packing has fewer
// misses in the TLB.
void *allocate_huge_pages(int size_class) {
    const std::size_t bytes = std::size_t{1} << size_class;
    void *const block = std::aligned_alloc(std::size_t{1} << undivided_class, bytes);
#ifdef MADV_HUGEPAGE
    if (block != nullptr) (void)madvise(block, bytes, MADV_HUGEPAGE);
#endif
    return block;
}

// Null if there is none, also after the kept blocks of other sizes have been freed.
void *allocate_for_device(KeptBlocks &kept, int size_class, DeviceRoute route) {
    const int kind = route.stays_there ? UCD_MEMORY__DEVICE : UCD_MEMORY__PINNED;
    void *block = nullptr;
    for (const bool again : {false, true}) {
        if (again && !kept.free_down_to(0)) break;
        if (ucd_memory_alloc(route.device->name.c_str(), kind, std::size_t{1} << size_class,
                             &block) == UCD_SUCCESS)
            return block;
    }
    return nullptr;
}

// CUDA makes small allocations parts of blocks of 2 MiB, which a peer opens as a whole. UCX 1.22
// fails to open parts of a block after others of it have been freed, and then closes all that it
// has opened. Halves of a whole block of ours are opened with it, once.
void *take(int size_class, DeviceRoute route) {
    KeptBlocks &kept = kept_for(route);
    if (void *const block = kept.take(size_class)) return block;
    if (size_class >= undivided_class)
        return route ? allocate_for_device(kept, size_class, route)
                     : allocate_huge_pages(size_class);
    char *const both = static_cast<char *>(take(size_class + 1, route));
    if (both != nullptr)
        (void)kept.keep(both + (std::size_t{1} << size_class), size_class, max_kept_for(route));
    return both;
}

void log_lack_of_memory(DeviceRoute route, std::size_t bytes) {
    static std::atomic<bool> logged{false};
    if (!route.stays_there || logged.exchange(true)) return;
    std::fprintf(stderr,
                 "libucd-mpi-preload: no memory on %s to pack a message of %zu bytes; messages for "
                 "which there is none go through the host\n",
                 route.device->name.c_str(), bytes);
}

} // namespace

PackedMemory::PackedMemory(std::size_t bytes, DeviceRoute route)
    : size_class_(bytes <= 1 ? smallest_class : static_cast<int>(std::bit_width(bytes - 1))) {
    if (size_class_ < smallest_class) size_class_ = smallest_class;
    if (bytes == 0 || size_class_ >= classes) return;
    while ((data_ = take(size_class_, route)) == nullptr && route) {
        log_lack_of_memory(route, bytes);
        route = route.stays_there ? DeviceRoute{route.device} : DeviceRoute{};
    }
    route_ = route;
}

PackedMemory::~PackedMemory() {
    if (data_ == nullptr) return;
    KeptBlocks &kept = kept_for(route_);
    const std::size_t size = std::size_t{1} << size_class_, most = max_kept_for(route_);
    // A new block has to be opened by each peer, so a large one takes the place of others.
    if (route_.stays_there && size >= std::size_t{1} << undivided_class && size <= most)
        (void)kept.free_down_to(most - size);
    if (kept.keep(data_, size_class_, most)) return;
    if (route_)
        (void)ucd_memory_free(data_);
    else
        std::free(data_);
}

} // namespace ucd_mpi
