#include "transfer/index_lists.h"

#include "prepared/type_cache.h"
#include "support/device_memory.h"
#include "transfer/progress.h"

#include <algorithm>
#include <cstring>

namespace ucd {
namespace {

Status fail_list(const void *list, const MemoryLocation &location, const Executor &executor) {
    return fail(UCD_ERR__NOT_SUPPORTED,
                "the type's indices at %p are in %s memory, which device %d of backend %s does not "
                "reach",
                list, name_of(location).text, executor.device, executor.backend->name());
}

// For each list, the largest number of indices that are read.
std::vector<uint64_t> lengths_of_lists(const Layout &layout) {
    std::vector<uint64_t> lengths(layout.index_lists.size());
    for (const Node &n : layout.nodes)
        if (n.kind == NodeKind::by_reference)
            lengths[n.table] = std::max(lengths[n.table], n.count);
    return lengths;
}

} // namespace

Status reaches_lists(const Hints &hints, LocationCache &locations, const Executor &executor,
                     const Type &type, bool must, bool &reached) {
    reached = true;
    for (const IndexList &list : layout_of(type).index_lists) {
        MemoryLocation location;
        UCD_TRY(locations.find(nullptr, list.indices, location));
        if (reaches(executor, hints, location)) continue;
        reached = false;
        if (must) return fail_list(list.indices, location, executor);
    }
    return success;
}

void ReleaseOfContext::operator()(char *memory) const noexcept {
    Context *const running = running_context.load(std::memory_order_acquire);
    if (running != nullptr && running->number == context)
        (void)running->device_memory->release(memory);
}

Status CopiedLists::take(const Executor &owner, std::size_t bytes, char *&memory) {
    Memory taken;
    ChunkPool &pool = context_.progress->list_pools().pool(owner, MemoryKind::pinned);
    if (!is_repeated_ && bytes <= pool.chunk_bytes()) UCD_TRY(pool.take(taken.chunk));
    if (taken.chunk == nullptr) {
        void *own = nullptr;
        UCD_TRY(context_.device_memory->allocate(*owner.backend, owner.device, MemoryKind::pinned,
                                                 bytes, own));
        taken.own = {static_cast<char *>(own), {context_.number}};
    }
    memory = taken.get();
    memory_->push_back(std::move(taken));
    return success;
}

void CopiedLists::add(StepKind kind, const Executor &by, const void *from, char *to,
                      std::size_t bytes) {
    Move copy;
    copy.from = side_of(from);
    copy.to = side_of(to);
    copy.length = bytes;
    submission_.add(kind, by, by).moves.push_back(copy);
}

// The host reads lists that it can access. Otherwise the device that has the list writes the copy,
// through memory of its own if necessary.
Status CopiedLists::copy_to(const Executor &mover, const MemoryLocation &location, const void *list,
                            std::size_t bytes, char *&copy) {
    const Executor host = host_executor(context_);
    Executor owner = host;
    if (!location.host_reachable())
        UCD_TRY(find_executor(context_, "a list", location.owner->name(), location.device, owner));
    // Pinned memory belongs to a device: to the mover, or, if the host moves, to the list's owner.
    const Executor &reader = mover.on_host() ? owner : mover;
    UCD_TRY(take(reader, bytes, copy));
    const MemoryLocation pinned{
        .kind = MemoryKind::pinned, .device = reader.device, .owner = reader.backend};
    if (owner.on_host() || reaches(owner, hints_, pinned)) {
        add(StepKind::copy_list, owner, list, copy, bytes);
        return success;
    }
    char *from_owner = nullptr;
    UCD_TRY(take(owner, bytes, from_owner));
    add(StepKind::copy_list, owner, list, from_owner, bytes);
    add(StepKind::relay_list, host, from_owner, copy, bytes);
    return success;
}

Status CopiedLists::replace(LocationCache &locations, const Executor &mover, const Type *&type) {
    for (const CopiedType &known : copied_types_)
        if (known.original == type && known.mover == mover) {
            type = known.type.get();
            return success;
        }
    OwnedLayout layout(layout_of(*type));
    const std::vector<uint64_t> lengths = lengths_of_lists(layout);
    for (std::size_t i = 0; i < layout->index_lists.size(); ++i) {
        const IndexList &list = layout->index_lists[i];
        MemoryLocation location;
        UCD_TRY(locations.find(nullptr, list.indices, location));
        if (reaches(mover, hints_, location)) continue;
        char *copy = nullptr;
        const std::size_t bytes = lengths[i] * packed_size(list.element);
        UCD_TRY(copy_to(mover, location, list.indices, bytes, copy));
        layout.set_indices(i, copy);
    }
    copied_types_.push_back({type, mover, with_layout(*type, std::move(layout))});
    type = copied_types_.back().type.get();
    submission_.types.add(*type);
    return success;
}

} // namespace ucd
