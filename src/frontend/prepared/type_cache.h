// The data that is derived from a type at first use and cached on it.
#pragma once

#include "backend.h"
#include "box_index.h"
#include "layout/owned_layout.h"
#include "types/type.h"

#include <mutex>

namespace ucd {

inline constexpr unsigned max_backends = 8;

// Elements with the memory of their layout.
struct OwnedElements : Elements {
    OwnedLayout owned_runs;
};

struct TypeCache final : CachedOnType {
    OwnedLayout own;            // empty if another type's layout is used
    BlockLists *held = nullptr; // the lists of a type below that the layout refers to
    const Layout &layout; // refers to `own`, or to the layout of a type below, which lives longer
    // Indexed by backend, and by whether the count is above one; see Backend::plan().
    mutable std::atomic<const KernelPlan *> plans[max_backends][2] = {};
    mutable std::atomic<const OwnedElements *> elements{nullptr};
    mutable std::atomic<const OwnedLayout *> runs{nullptr};
    mutable std::atomic<const BoxIndex *> boxes{nullptr};
    // For types from flattened bytes: the bytes that plans, elements and runs may still use. These
    // are then made under the mutex.
    mutable uint64_t bytes_left = UINT64_MAX;
    mutable std::mutex making;

    TypeCache() : layout(own) {}
    explicit TypeCache(const Layout &other) : layout(other) {}
    ~TypeCache() override;
    void list_blocks(const Type &type, bool lengths_too, ListedBlocks &blocks) const override;
};

// Makes the cache at first use. Throws std::bad_alloc for OUT_OF_MEM.
const TypeCache &make_cache(const Type &type);

[[gnu::always_inline]] inline const TypeCache &cache_of(const Type &type) {
    const CachedOnType *cache = type.cache.load(std::memory_order_acquire);
    return cache != nullptr ? static_cast<const TypeCache &>(*cache) : make_cache(type);
}

// The limit for the layout of the type. Few flattened bytes can describe a large type, so types
// from ucd_unflatten, and types built on them, have a budget: half of it for the layout, and what
// the layout leaves for everything else. Types that the program built have no limit.
uint64_t max_layout_bytes(const Type &type);

// The type's layout.
inline const Layout &layout_of(const Type &type) {
    return cache_of(type).layout;
}

// Makes a copy of the type that has another layout. If the layout refers to the lists of a type
// below, which are held now, the copy holds them, too.
ConstTypeOwner with_layout(const Type &type, OwnedLayout layout, BlockLists *lists = nullptr);

Status make_plan(const Type &type, const Backend &backend, unsigned backend_index, bool repeated,
                 const KernelPlan *&plan);

// The plan for a backend, given by its index in the context. Always inlined, because it is on the
// path of every small call, and compilers do not inline functions with many callers.
[[gnu::always_inline]] inline Status plan_of(const Type &type, const Backend &backend,
                                             unsigned backend_index, bool repeated,
                                             const KernelPlan *&plan) {
    plan = cache_of(type).plans[backend_index][repeated].load(std::memory_order_acquire);
    if (plan != nullptr) [[likely]]
        return success;
    return make_plan(type, backend, backend_index, repeated, plan);
}

// The elements of the type's packed stream, for reductions.
const Elements &elements_of(const Type &type);

// Same, by handles; see lower_to_runs(). The type must not be empty.
const OwnedLayout &runs_of(const Type &type);

// The index of the boxes of the type's layout.
const BoxIndex &boxes_of(const Type &type);

} // namespace ucd
