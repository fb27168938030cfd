// Staging memory for chunks of packed data, which the executors on both sides of a staged move can
// access.
#pragma once

#include "free_list.h"

#include "transfer/context.h"

#include <memory>
#include <mutex>
#include <vector>

namespace ucd {

struct StagingSizes {
    std::size_t chunk_bytes = std::size_t{1} << 20; // at least 64, so that any element fits in a
                                                    // chunk
    unsigned chunks = 8;                            // the limit per pool
};

// The alignment of parts in a chunk.
inline constexpr std::size_t part_alignment = 64;

class ChunkPool;

struct ReturnChunk {
    ChunkPool *pool = nullptr;
    void operator()(char *memory) const noexcept;
};
using Chunk = std::unique_ptr<char, ReturnChunk>;

// Chunks of one kind of memory of one device. They are allocated when first needed, and kept.
class ChunkPool {
public:
    ChunkPool(const Executor &owner, MemoryKind kind, StagingSizes sizes);
    ~ChunkPool(); // all chunks must have been given back

    // Sets `chunk` to null without a failure if all chunks are in use; they will be given back.
    Status take(Chunk &chunk);

    // Whether an executor can access the chunks.
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
    std::mutex mutex_;             // protects the two numbers
    unsigned existing_ = 0, most_; // `most_` decreases when memory runs out
};

// All chunk pools of a context.
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
