#include "prepared/footprint.h"

#include "prepared/type_cache.h"
#include "support/list_memory.h"

#include <unordered_set>
#include <utility>
#include <vector>

namespace ucd {
namespace {

uint64_t bytes_of_cache(const TypeCache &derived) {
    uint64_t bytes = sizeof derived + bytes_of(derived.own);
    for (const auto &of_backend : derived.plans)
        for (const auto &slot : of_backend)
            if (const KernelPlan *plan = slot.load(std::memory_order_acquire))
                bytes += plan->memory();
    if (const OwnedElements *e = derived.elements.load(std::memory_order_acquire))
        bytes += sizeof *e + bytes_of(e->owned_runs);
    if (const OwnedLayout *runs = derived.runs.load(std::memory_order_acquire))
        bytes += sizeof *runs + bytes_of(*runs);
    if (const BoxIndex *boxes = derived.boxes.load(std::memory_order_acquire))
        bytes += sizeof *boxes + boxes->memory();
    return bytes;
}

// The type without its children and its cache.
uint64_t bytes_of_tree(const Type &t) {
    // In the order of the forms.
    constexpr std::size_t sizes[] = {
        sizeof(Type),        sizeof(NestType),      sizeof(IndexedBlockType),
        sizeof(IndexedType), sizeof(StructureType), sizeof(ByReferenceType)};
    uint64_t bytes = sizes[static_cast<unsigned>(t.form)] + bytes_of(t.arguments);
    if (t.form == Form::nest) bytes += as<NestType>(t).levels.allocated_bytes();
    if (t.form == Form::structure) {
        const auto &structure = as<StructureType>(t);
        bytes += structure.children.capacity() * sizeof(void *);
        bytes += bytes_of(structure.member_places);
    }
    if (t.form == Form::structure || is_indexed(t))
        bytes += bytes_of(as<ListType>(t).displs) + bytes_of(as<ListType>(t).first);
    return bytes;
}

} // namespace

uint64_t footprint_of(const Type &root) {
    uint64_t bytes = 0;
    std::unordered_set<const Type *> seen;
    std::vector<const Type *> pending{&root};
    while (!pending.empty()) {
        const Type &t = *pending.back();
        pending.pop_back();
        if (t.permanent || !seen.insert(&t).second) continue;
        bytes += bytes_of_tree(t);
        const CachedOnType *cache = t.state.cache.load(std::memory_order_acquire);
        if (cache != nullptr && !t.shares_cache())
            bytes += bytes_of_cache(static_cast<const TypeCache &>(*cache));
        // Equal neighbours are the common case of long structs.
        const Type *previous = nullptr;
        for (const Type *child : children_of(t))
            if (child != std::exchange(previous, child)) pending.push_back(child);
    }
    return bytes;
}

} // namespace ucd
