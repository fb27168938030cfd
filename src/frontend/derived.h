// What is derived from a type at first use and cached on it.
#pragma once

#include "backend.h"
#include "type.h"

namespace ucd {

inline constexpr unsigned max_backends = 8;

struct Derived {
    Layout layout;
    // Per backend and for a count of one or more; see Backend::plan().
    std::atomic<const Plan *> plans[max_backends][2] = {};
    std::atomic<const Elements *> elements{nullptr};

    Derived() = default;
    ~Derived();
};

// The type's layout; OUT_OF_MEM is thrown as std::bad_alloc.
const Derived &derived(const Type &type);

inline const Layout &layout_of(const Type &type) {
    return derived(type).layout;
}

// The plan of a backend, given by its index in the context.
Status plan_of(const Type &type, const Backend &backend, unsigned backend_index, bool repeated,
               const Plan *&plan);

// What the packed stream of the type is made of, for reductions.
const Elements &elements_of(const Type &type);

} // namespace ucd
