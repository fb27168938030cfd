// Lists of indices by reference: finds out which executors can access them, and copies them to
// where executors can.
#pragma once

#include "transfer/chunk_pool.h"
#include "transfer/route.h"
#include "transfer/submission.h"
#include "types/type.h"

#include <memory>
#include <vector>

namespace ucd {

// Whether the executor can access all lists of the type. If it must, fails if it cannot.
Status reaches_lists(const Hints &hints, LocationCache &locations, const Executor &executor,
                     const Type &type, bool must, bool &reached);

// Releases memory of a context's DeviceMemory. A plan may be freed after its context, which has
// released the memory then.
struct ReleaseOfContext {
    uint64_t context = 0; // its number
    void operator()(char *memory) const noexcept;
};

// Copies, in pinned memory, of the lists of a submission that their executors cannot access.
class CopiedLists {
public:
    // If the submission is started repeatedly, its memory is not taken from the pools, where others
    // would miss it.
    CopiedLists(Context &context, const Hints &hints, Submission &submission, bool is_repeated)
        : context_(context), hints_(hints), submission_(submission), is_repeated_(is_repeated),
          memory_(std::make_shared<std::vector<Memory>>()) {
        submission.memory = memory_;
    }

    // Replaces the type by one with the same layout but with lists that `mover` will be able to
    // access, when the steps that this adds to the submission are done. NOT_SUPPORTED if there is
    // no such memory. The submission keeps the new type.
    Status replace(LocationCache &locations, const Executor &mover, const Type *&type);

private:
    // From a pool; or allocated separately, if the list is too long for a chunk or no chunk is
    // free.
    struct Memory {
        Chunk chunk;
        std::unique_ptr<char, ReleaseOfContext> own;
        char *get() const { return chunk != nullptr ? chunk.get() : own.get(); }
    };
    struct CopiedType {
        const Type *original;
        Executor mover;
        ConstTypeOwner type;
    };
    Status copy_to(const Executor &mover, const MemoryLocation &location, const void *list,
                   std::size_t bytes, char *&copy);
    void add(StepKind kind, const Executor &by, const void *from, char *to, std::size_t bytes);
    Status take(const Executor &owner, std::size_t bytes, char *&memory);

    Context &context_;
    const Hints &hints_;
    Submission &submission_;
    const bool is_repeated_;
    const std::shared_ptr<std::vector<Memory>> memory_;
    std::vector<CopiedType> copied_types_; // so that the lists of a type are copied once
};

} // namespace ucd
