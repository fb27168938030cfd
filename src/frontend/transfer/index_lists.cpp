#include "transfer/index_lists.h"

#include "prepared/type_cache.h"
#include "transfer/host_submission.h"
#include "transfer/progress.h"

#include <algorithm>

namespace ucd {
namespace {

Status fail_list(const void *list, const MemoryLocation &place, const Executor &executor) {
    return fail(UCD_ERR__NOT_SUPPORTED,
                "the type's indices at %p are in %s memory, which device %d of backend %s does not "
                "reach",
                list, name_of(place).text, executor.device, executor.backend->name());
}

// How many indices of a list are read, at most.
std::vector<uint64_t> lengths_of_lists(const Layout &layout) {
    std::vector<uint64_t> lengths(layout.index_lists.size());
    for (const Node &n : layout.nodes)
        if (n.kind == NodeKind::by_reference) lengths[n.table] = std::max(lengths[n.table], n.count);
    return lengths;
}

} // namespace

Status reaches_lists(const Hints &hints, LocationCache &locations, const Executor &executor,
                     const Type &type, bool &reached) {
    reached = true;
    for (const IndexList &list : layout_of(type).index_lists) {
        MemoryLocation place;
        UCD_TRY(locations.find(nullptr, list.indices, place));
        reached = reached && reaches(executor, hints, place);
    }
    return success;
}

Status check_lists_reached(const Hints &hints, LocationCache &locations, const Executor &executor,
                           const Type &type) {
    for (const IndexList &list : layout_of(type).index_lists) {
        MemoryLocation place;
        UCD_TRY(locations.find(nullptr, list.indices, place));
        if (!reaches(executor, hints, place)) return fail_list(list.indices, place, executor);
    }
    return success;
}

Status BroughtLists::take(const Executor &owner, std::size_t bytes, Memory &memory) {
    ChunkPool &pool = context_.progress->list_pools().pool(owner, MemoryKind::pinned);
    if (bytes <= pool.chunk_bytes()) UCD_TRY(pool.take(memory.chunk));
    if (memory.chunk != nullptr) return success;
    void *own = nullptr;
    UCD_TRY(owner.backend->allocate(owner.device, MemoryKind::pinned, bytes, own));
    memory.own = {static_cast<char *>(own), {owner}};
    return success;
}

Status BroughtLists::bring(LocationCache &locations, const Executor &mover, const Type *&type) {
    for (const Moved &known : moved_)
        if (known.original == type && known.mover == mover) {
            type = known.type.get();
            return success;
        }
    const Layout &layout = layout_of(*type);
    const std::vector<uint64_t> lengths = lengths_of_lists(layout);
    std::vector<IndexList> lists = layout.index_lists;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        MemoryLocation place;
        UCD_TRY(locations.find(nullptr, lists[i].indices, place));
        if (reaches(mover, hints_, place)) continue;
        // The host may read what it reaches; else the device that has the list writes the copy.
        Executor owner = mover;
        if (!place.host_reachable())
            UCD_TRY(find_executor(context_, "the type's list", place.owner->name(), place.device,
                                  owner));
        const MemoryLocation pinned{.kind = MemoryKind::pinned,
                                    .device = owner.device,
                                    .owner = owner.backend};
        if (owner.on_host() || !reaches(mover, hints_, pinned))
            return fail_list(lists[i].indices, place, mover);
        const std::size_t bytes = lengths[i] * packed_size(lists[i].element);
        Memory memory;
        UCD_TRY(take(owner, bytes, memory));
        const Executor by = place.host_reachable() ? host_executor(context_) : owner;
        copies_.push_back({by, lists[i].indices, memory.get(), bytes});
        lists[i].indices = memory.get();
        memory_.push_back(std::move(memory));
    }
    moved_.push_back({type, mover, with_index_lists(*type, std::move(lists))});
    type = moved_.back().type.get();
    return success;
}

Status BroughtLists::start(AsyncTransfer &work, AsyncTransfer::Continuation then) {
    work.expect_copies(copies_.size());
    work.keep(std::make_shared<std::vector<Memory>>(std::move(memory_)));
    work.continue_by(std::move(then));
    for (const Copy &copy : copies_)
        UCD_TRY(work.copy_first(copy.by, copy.to, copy.from, copy.bytes));
    return success;
}

} // namespace ucd
