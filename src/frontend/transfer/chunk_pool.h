// Memory for chunks of packed data that executors on both sides of a staged move reach.
#pragma once

#include "free_list.h"

#include "transfer/context.h"

#include <memory>
#include <mutex>
#include <vector>

namespace ucd {

struct StagingSizes {
    std::size_t chunk_bytes = std::size_t{1} << 20; // at least 64: a chunk holds any element
    unsigned chunks = 8;                            // the most per pool
};

// Of what is in a chunk.
inline constexpr std::size_t part_alignment = 64;

class ChunkPool;

struct ReturnChunk {
    ChunkPool *pool = nullptr;
    void operator()(char *memory) const noexcept;
};
using Chunk = std::unique_ptr<char, ReturnChunk>;

// Gives memory back to the executor that allocated it.
struct ReleasePinned {
    Executor owner;
    void operator()(char *memory) const noexcept {
        owner.backend->release(owner.device, MemoryKind::pinned, memory);
    }
};

// Chunks of one kind of memory of one device; allocated at first need, and kept.
class ChunkPool {
public:
    ChunkPool(const Executor &owner, MemoryKind kind, StagingSizes sizes);
    ~ChunkPool(); // all chunks are back

    // Null without a failure: none is free now, but others are in use and will come back.
    Status take(Chunk &chunk);

    // Whether an executor reaches the chunks.
    bool reached_by(const Executor &executor) const;

    bool serves(const Executor &owner, MemoryKind kind) const {
        return owner_ == owner && kind_ == kind;
    }
    MemoryKind kind() const { return kind_; }
    std::size_t chunk_bytes() const { return sizes_.chunk_bytes; }
    unsigned max_chunks() const { return sizes_.chunks; }

private:
    friend struct ReturnChunk;
    const Executor owner_;
    const MemoryKind kind_;
    const StagingSizes sizes_;
    FreeList<char *> free_;
    std::mutex mutex_;             // of the numbers
    unsigned existing_ = 0, most_; // `most_` shrinks to what memory there is
};

// All pools of a context.
class ChunkPools {
public:
    explicit ChunkPools(StagingSizes sizes) : sizes_(sizes) {}
    ChunkPool &pool(const Executor &owner, MemoryKind kind);

private:
    const StagingSizes sizes_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<ChunkPool>> pools_;
};

} // namespace ucd
