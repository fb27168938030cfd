#include "transfer/chunk_pool.h"

namespace ucd {

void ReturnChunk::operator()(char *memory) const noexcept {
    pool->free_.give_back(memory); // never fails, because room is reserved for all
}

ChunkPool::ChunkPool(const Executor &owner, MemoryKind kind, StagingSizes sizes)
    : owner_(owner), kind_(kind), sizes_(sizes), most_(sizes.chunks) {
    free_.reserve(sizes.chunks);
}

ChunkPool::~ChunkPool() {
    for (char *memory; free_.take(memory);) owner_.backend->release(owner_.device, kind_, memory);
}

Status ChunkPool::take(Chunk &chunk) {
    if (char *free; free_.take(free)) {
        chunk = Chunk(free, {this});
        return success;
    }
    {
        const std::lock_guard lock(mutex_);
        if (existing_ >= most_) return success;
        ++existing_;
    }
    // Allocation is slow, so it does not hold the lock.
    void *memory = nullptr;
    const Status status =
        owner_.backend->allocate(owner_.device, kind_, sizes_.chunk_bytes, memory);
    if (status.ok()) {
        chunk = Chunk(static_cast<char *>(memory), {this});
        return success;
    }
    const std::lock_guard lock(mutex_);
    if (--existing_ == 0) return status;
    most_ = existing_;
    return success;
}

bool ChunkPool::reached_by(const Executor &executor) const {
    return executor.backend->reaches(executor.device,
                                     MemoryLocation{kind_, owner_.device, owner_.backend});
}

ChunkPool &ChunkPools::pool(const Executor &owner, MemoryKind kind) {
    const std::lock_guard lock(mutex_);
    for (auto &pool : pools_)
        if (pool->serves(owner, kind)) return *pool;
    return *pools_.emplace_back(std::make_unique<ChunkPool>(owner, kind, sizes_));
}

} // namespace ucd
