// The lists of a type: what displacements and lengths its constructor was given. Once a layout says
// the same, the type gives up its own, and they are made again for who asks.
#pragma once

#include "layout.h"
#include "types/type.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ucd {

// The lists as something else has them: displacements in bytes from the first, and lengths. The
// memory is for what has to be made.
struct ListedBlocks {
    std::span<const int64_t> displs, lengths;
    std::vector<int64_t> displ_memory, length_memory;
};

// What they take.
uint64_t list_bytes(const Type &type);

// The lists of a type that has any, for as long as this lives.
class TypeLists {
public:
    // Throws std::bad_alloc if they have to be made again and there is no memory for that.
    explicit TypeLists(const Type &type);
    ~TypeLists();
    TypeLists(const TypeLists &) = delete;
    TypeLists &operator=(const TypeLists &) = delete;

    // Block i lies displs()[i] * unit() bytes from base(), which wraps. Empty: no lengths.
    std::span<const int64_t> displs() const { return displs_; }
    std::span<const int64_t> lengths() const { return lengths_; }
    int64_t base() const { return base_; }
    int64_t unit() const { return unit_; }

    int64_t at(std::size_t i) const {
        return displace(base_, static_cast<uint64_t>(displs_[i]), unit_);
    }
    // As it was given.
    int64_t given(std::size_t i) const { return held_ ? displs_[i] : at(i) / type_.unit; }

private:
    const Type &type_;
    bool held_;
    ListedBlocks listed_;
    std::span<const int64_t> displs_, lengths_;
    int64_t base_ = 0, unit_ = 1;
};

} // namespace ucd
