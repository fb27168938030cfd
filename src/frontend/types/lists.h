// Access to the lists of a type: the displacements and lengths that were given to its constructor.
// Once the type's layout has the same information, the type frees its own lists, and readers get
// lists that are recomputed from the layout.
#pragma once

#include "layout.h"
#include "types/type.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ucd {

// The lists as recomputed from the layout: displacements in bytes relative to the first, and
// lengths. They refer to the layout's tables, or to the memory here if they had to be computed.
struct ListedBlocks {
    std::span<const int64_t> displs, lengths;
    std::vector<int64_t> displ_memory, length_memory;
};

// The memory that the lists use.
uint64_t list_bytes(const Type &type);

// The lists of a type that has some. They are valid during the lifetime of this object.
class TypeLists {
public:
    // Throws std::bad_alloc if recomputing the lists runs out of memory.
    explicit TypeLists(const Type &type);
    ~TypeLists();
    TypeLists(const TypeLists &) = delete;
    TypeLists &operator=(const TypeLists &) = delete;

    // Block i lies at base() + displs()[i] * unit() bytes, with wrapping arithmetic. lengths() is
    // empty if the type has no lengths.
    std::span<const int64_t> displs() const { return displs_; }
    std::span<const int64_t> lengths() const { return lengths_; }
    int64_t base() const { return base_; }
    int64_t unit() const { return unit_; }

    int64_t at(std::size_t i) const {
        return displace(base_, static_cast<uint64_t>(displs_[i]), unit_);
    }
    // Displacement i as it was given to the constructor.
    int64_t given(std::size_t i) const { return held_ ? displs_[i] : at(i) / type_.unit; }

private:
    const Type &type_;
    bool held_;
    ListedBlocks listed_;
    std::span<const int64_t> displs_, lengths_;
    int64_t base_ = 0, unit_ = 1;
};

} // namespace ucd
