#include "support/device_memory.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ucd {

DeviceMemory::~DeviceMemory() {
    for (const auto &[address, opened] : opened_) end(opened);
    for (const auto &[address, a] : allocations_) a.backend->release(a.device, a.kind, address);
}

void DeviceMemory::end(const Opened &opened) {
    if (opened.backend != nullptr) opened.backend->close_memory(opened.device, opened.allocation);
}

Status DeviceMemory::allocate(Backend &backend, int device, MemoryKind kind, std::size_t bytes,
                              void *&address) {
    const Status status = try_to_allocate(backend, device, kind, bytes, address);
    if (status.code() != UCD_ERR__OUT_OF_MEM || !release_spare()) return status;
    return try_to_allocate(backend, device, kind, bytes, address);
}

// The entries come first: once there is something to end, nothing fails.
Status DeviceMemory::try_to_allocate(Backend &backend, int device, MemoryKind kind,
                                     std::size_t bytes, void *&address) {
    std::unordered_map<void *, Allocation> entry;
    entry[nullptr] = {&backend, device, kind};
    auto node = entry.extract(entry.begin());
    const std::lock_guard lock(mutex_);
    allocations_.reserve(allocations_.size() + 1);
    UCD_TRY(backend.allocate(device, kind, bytes, node.key()));
    address = node.key();
    allocations_.insert(std::move(node));
    return success;
}

Status DeviceMemory::adopt(Backend &backend, int device, MemoryKind kind, void *address) {
    try {
        const std::lock_guard lock(mutex_);
        allocations_[address] = {&backend, device, kind};
    } catch (...) {
        backend.release(device, kind, address);
        throw;
    }
    return success;
}

Status DeviceMemory::release(void *address) {
    if (address == nullptr) return success;
    std::unordered_map<void *, Allocation>::node_type node;
    {
        const std::lock_guard lock(mutex_);
        node = allocations_.extract(address);
    }
    if (node.empty())
        return fail(UCD_ERR__INVALID_ARG, "address is %p, which ucd_memory_alloc did not give out",
                    address);
    const Allocation a = node.mapped();
    a.backend->release(a.device, a.kind, address);
    return success;
}

Status DeviceMemory::take(Backend &backend, int device, std::size_t bytes, Block &block) {
    {
        const std::lock_guard lock(mutex_);
        const auto end = spare_.begin() + static_cast<std::ptrdiff_t>(spare_count_);
        const auto it = std::find_if(spare_.begin(), end, [&](const Block &spare) {
            return spare.backend == &backend && spare.device == device && spare.bytes >= bytes;
        });
        if (it != end) {
            block = *it;
            *it = spare_[--spare_count_];
            return success;
        }
    }
    block = {&backend, device, std::bit_ceil(bytes), nullptr};
    return allocate(backend, device, MemoryKind::device, block.bytes, block.address);
}

// Keeps the largest ones.
void DeviceMemory::give_back(Block block) {
    {
        const std::lock_guard lock(mutex_);
        if (spare_count_ < max_spare) {
            spare_[spare_count_++] = block;
            return;
        }
        const auto smallest =
            std::min_element(spare_.begin(), spare_.end(),
                             [](const Block &a, const Block &b) { return a.bytes < b.bytes; });
        if (smallest->bytes < block.bytes) std::swap(*smallest, block);
    }
    (void)release(block.address);
}

bool DeviceMemory::release_spare() {
    std::array<Block, max_spare> unused;
    std::size_t count;
    {
        const std::lock_guard lock(mutex_);
        unused = spare_;
        count = std::exchange(spare_count_, 0);
    }
    for (const Block &block : std::span(unused).first(count)) (void)release(block.address);
    return count > 0;
}

template <class Open>
Status DeviceMemory::open_by(Backend &backend, int device, uint64_t offset, void *&address,
                             const Open &open_memory) {
    std::unordered_multimap<void *, Opened> entry;
    entry.insert({nullptr, Opened{&backend, device, nullptr}});
    auto node = entry.extract(entry.begin());
    const std::lock_guard lock(mutex_);
    opened_.reserve(opened_.size() + 1);
    UCD_TRY(open_memory(node.mapped().allocation));
    node.key() = static_cast<char *>(node.mapped().allocation) + offset;
    address = node.key();
    opened_.insert(std::move(node));
    return success;
}

Status DeviceMemory::open(Backend &backend, int device, const MemoryHandle &handle,
                          std::size_t bytes, void *&address) {
    return open_by(backend, device, handle.offset, address, [&](void *&allocation) {
        return backend.open_memory(device, handle, bytes, allocation);
    });
}

Status DeviceMemory::open(Backend &backend, int device, const FdHandle &handle, std::size_t bytes,
                          std::span<const int> fds, void *&address) {
    return open_by(backend, device, handle.offset, address, [&](void *&allocation) {
        return backend.open_fds(device, handle, bytes, fds.data(), fds.size(), allocation);
    });
}

Status DeviceMemory::open_own(void *address) {
    const std::lock_guard lock(mutex_);
    opened_.insert({address, Opened{nullptr, 0, nullptr}});
    return success;
}

// Memory of this process may have gone before it is closed, and another's be there now. Whose turn
// it is cannot be told, so what really ends goes last.
Status DeviceMemory::close(void *address) {
    std::unordered_multimap<void *, Opened>::node_type node;
    {
        const std::lock_guard lock(mutex_);
        const auto [begin, end_of_range] = opened_.equal_range(address);
        const auto own = std::find_if(
            begin, end_of_range, [](const auto &entry) { return entry.second.backend == nullptr; });
        if (const auto first = own != end_of_range ? own : begin; first != end_of_range)
            node = opened_.extract(first);
    }
    if (node.empty())
        return fail(UCD_ERR__INVALID_ARG, "address is %p, which ucd_ipc_open did not give out",
                    address);
    end(node.mapped());
    return success;
}

} // namespace ucd
