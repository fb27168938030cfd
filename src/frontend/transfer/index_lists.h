// The lists of types whose indices are by reference: who reaches them, and how they are brought to
// where they are reached.
#pragma once

#include "transfer/chunk_pool.h"
#include "transfer/device.h"
#include "transfer/route.h"
#include "types/type.h"

#include <memory>
#include <vector>

namespace ucd {

// Whether the executor reaches all lists of the type.
Status reaches_lists(const Hints &hints, LocationCache &locations, const Executor &executor,
                     const Type &type, bool &reached);

// The same as a status.
Status check_lists_reached(const Hints &hints, LocationCache &locations, const Executor &executor,
                           const Type &type);

// Copies, in pinned memory, of the lists of one call that their executors do not reach.
class BroughtLists {
public:
    BroughtLists(Context &context, const Hints &hints) : context_(context), hints_(hints) {}

    // Changes the type to one with the same layout whose lists `mover` will reach. Starts nothing.
    // NOT_SUPPORTED if there is no such memory. The new type lives as long as this, at least.
    Status bring(LocationCache &locations, const Executor &mover, const Type *&type);

    bool empty() const { return moved_.empty(); }

    // Starts the copies of all lists. `work` is what needs them: it does the rest by `then` when
    // they are complete, and gets the memory.
    Status start(AsyncTransfer &work, AsyncTransfer::Continuation then);

private:
    // From a pool; or of its own, if the list is too long for a chunk, or none is free.
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
    std::vector<Copy> relays_; // by the host, when the copies are complete
    std::vector<Moved> moved_; // a type that comes again is brought once
};

} // namespace ucd
