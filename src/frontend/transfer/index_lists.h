// Lists of indices by reference: finds out which executors can access them, and copies them to
// where executors can.
#pragma once

#include "transfer/chunk_pool.h"
#include "transfer/device.h"
#include "transfer/route.h"
#include "types/type.h"

#include <memory>
#include <vector>

namespace ucd {

// Whether the executor can access all lists of the type.
Status reaches_lists(const Hints &hints, LocationCache &locations, const Executor &executor,
                     const Type &type, bool &reached);

// Same, but fails if it cannot.
Status check_lists_reached(const Hints &hints, LocationCache &locations, const Executor &executor,
                           const Type &type);

// Copies, in pinned memory, of the lists of one call that their executors cannot access.
class CopiedLists {
public:
    CopiedLists(Context &context, const Hints &hints) : context_(context), hints_(hints) {}

    // Replaces the type by one with the same layout but with lists that `mover` will be able to
    // access. Starts nothing. NOT_SUPPORTED if there is no such memory. The new type lives at least
    // as long as this object.
    Status replace(LocationCache &locations, const Executor &mover, const Type *&type);

    // Starts copying all lists for `work`, which takes over the memory. When the copies are
    // complete, `work` calls `then`.
    Status start(AsyncTransfer &work, AsyncTransfer::Continuation then);

private:
    // From a pool; or allocated separately, if the list is too long for a chunk or no chunk is
    // free.
    struct Memory {
        Chunk chunk;
        std::unique_ptr<char, ReleasePinned> own;
        char *get() const { return chunk != nullptr ? chunk.get() : own.get(); }
    };
    struct Copy {
        Executor by;
        const void *from;
        char *to;
        std::size_t bytes;
    };
    Status copy_to(const Executor &mover, const MemoryLocation &location, const void *list,
                   std::size_t bytes, char *&copy);
    struct Moved {
        const Type *original;
        Executor mover;
        ConstTypeOwner type;
    };
    Status take(const Executor &owner, std::size_t bytes, char *&memory);

    Context &context_;
    const Hints &hints_;
    std::vector<Memory> memory_;
    std::vector<Copy> copies_;
    std::vector<Copy> relays_; // done by the host when the copies are complete
    std::vector<Moved> moved_; // so that the lists of a type are copied once
};

} // namespace ucd
