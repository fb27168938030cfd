// What is derived from a type at first use and cached on it.
#pragma once

#include "backend.h"
#include "box_index.h"
#include "types/type.h"

#include <mutex>

namespace ucd {

inline constexpr unsigned max_backends = 8;

struct TypeCache final : CachedOnType {
    Layout own;           // empty if that of another type serves
    const Layout &layout; // its own, or that of a type below, which lives longer
    // Per backend and for a count of one or more; see Backend::plan().
    mutable std::atomic<const KernelPlan *> plans[max_backends][2] = {};
    mutable std::atomic<const Elements *> elements{nullptr};
    mutable std::atomic<const Layout *> runs{nullptr};
    mutable std::atomic<const BoxIndex *> boxes{nullptr};
    // What plans, elements and runs may still take, if the type was made from flattened bytes. Then
    // they are made under the mutex.
    mutable uint64_t bytes_left = UINT64_MAX;
    mutable std::mutex making;

    TypeCache() : layout(own) {}
    explicit TypeCache(const Layout &other) : layout(other) {}
    ~TypeCache() override;
    void list_blocks(const Type &type, bool lengths_too, ListedBlocks &blocks) const override;
};

// Made at first use; OUT_OF_MEM is thrown as std::bad_alloc.
const TypeCache &make_cache(const Type &type);

inline const TypeCache &cache_of(const Type &type) {
    const CachedOnType *cache = type.cache.load(std::memory_order_acquire);
    return cache != nullptr ? static_cast<const TypeCache &>(*cache) : make_cache(type);
}

// What the layout of the type may be expanded to. Descriptions of few bytes may imply much: what
// comes out of ucd_unflatten, and what is built on it, has half of its budget for the layout, and
// what that leaves for all else. Types that the program built are not limited in bytes.
uint64_t max_layout_bytes(const Type &type);

// The type's layout.
inline const Layout &layout_of(const Type &type) {
    return cache_of(type).layout;
}

// A type that is as this one, but for its layout.
ConstTypeOwner with_layout(const Type &type, Layout layout);

Status make_plan(const Type &type, const Backend &backend, unsigned backend_index, bool repeated,
                 const KernelPlan *&plan);

// The plan of a backend, given by its index in the context. On the path of every small call, where
// compilers leave out of line what has many callers.
[[gnu::always_inline]] inline Status plan_of(const Type &type, const Backend &backend,
                                             unsigned backend_index, bool repeated,
                                             const KernelPlan *&plan) {
    plan = cache_of(type).plans[backend_index][repeated].load(std::memory_order_acquire);
    if (plan != nullptr) [[likely]]
        return success;
    return make_plan(type, backend, backend_index, repeated, plan);
}

// What the packed stream of the type is made of, for reductions.
const Elements &elements_of(const Type &type);

// The same by handles; see lower_to_runs(). Not for empty types.
const Layout &runs_of(const Type &type);

// Where the boxes of the type's layout begin.
const BoxIndex &boxes_of(const Type &type);

} // namespace ucd
