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
    OwnedLayout own;      // empty if another type's layout is used
    const Layout &layout; // refers to `own`, or to the layout of a type below, which lives longer
    // Indexed by backend, and by whether the count is above one; see Backend::plan().
    std::atomic<const KernelPlan *> plans[max_backends][2] = {};
    std::atomic<const OwnedElements *> elements{nullptr};
    std::atomic<const OwnedLayout *> runs{nullptr};
    std::atomic<const BoxIndex *> boxes{nullptr};
    // For types from flattened bytes: the bytes that plans, elements and runs may still use.
    // Guarded by the mutex, under which these are made.
    uint64_t bytes_left = UINT64_MAX;
    std::mutex making;

    TypeCache() : layout(own) {}
    explicit TypeCache(const Layout &other) : layout(other) {}
    ~TypeCache() override;
};

// Makes the cache at first use. Throws std::bad_alloc for OUT_OF_MEM.
TypeCache &make_cache(const Type &type);

[[gnu::always_inline]] inline TypeCache &cache_of(const Type &type) {
    CachedOnType *cache = type.state.cache.load(std::memory_order_acquire);
    return cache != nullptr ? static_cast<TypeCache &>(*cache) : make_cache(type);
}

// The limit for the layout of the type. Few flattened bytes can describe a large type, so types
// from ucd_unflatten, and types built on them, have a budget: half of it for the layout, and what
// the layout leaves for everything else. Types that the program built have no limit.
uint64_t max_layout_bytes(const Type &type);

// The type's layout.
inline const Layout &layout_of(const Type &type) {
    return cache_of(type).layout;
}

// Makes a copy of the type that has another layout. The copy keeps the type, and so the lists of
// types below that the layout may refer to.
ConstTypeOwner with_layout(const Type &type, OwnedLayout layout);

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

// The elements of the type's packed stream, for reductions and conversions.
const Elements &elements_of(const Type &type);

// The runs of equal predefined types in the packed stream, by the values of their handles; see
// Lower::runs. The type must not be empty.
const OwnedLayout &runs_of(const Type &type);

// The index of the boxes of the type's layout.
const BoxIndex &boxes_of(const Type &type);

} // namespace ucd
