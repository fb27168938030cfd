#include "prepared/footprint.h"

#include "prepared/type_cache.h"
#include "support/list_memory.h"
#include "types/elements.h"

#include <unordered_set>
#include <vector>

namespace ucd {
namespace {

uint64_t bytes_of(const TypeCache &derived) {
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

} // namespace

uint64_t footprint_of(const Type &root) {
    uint64_t bytes = 0;
    std::unordered_set<const Type *> seen;
    std::vector<const Type *> pending{&root};
    while (!pending.empty()) {
        const Type &t = *pending.back();
        pending.pop_back();
        if (t.permanent || !seen.insert(&t).second) continue;
        const auto entries = static_cast<uint64_t>(t.count);
        bytes += sizeof t + t.argument_count * sizeof t.arguments[0];
        bytes += bytes_of(t.lists.displs) + bytes_of(t.lists.first);
        bytes += count_member_places(t) * sizeof(StreamPlace);
        const CachedOnType *cache = t.cache.load(std::memory_order_acquire);
        if (cache != nullptr && !t.shares_cache())
            bytes += bytes_of(static_cast<const TypeCache &>(*cache));
        if (t.child != nullptr) pending.push_back(t.child);
        if (!t.children) continue;
        bytes += entries * sizeof(void *);
        // Equal neighbours are the common case of long structs.
        for (uint64_t i = 0; i < entries; ++i)
            if (i == 0 || t.children[i] != t.children[i - 1]) pending.push_back(t.children[i]);
    }
    return bytes;
}

} // namespace ucd
