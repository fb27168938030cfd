// A datatype as the user built it: constructor, arguments, children and bounds. It is reference
// counted, and immutable once published. What a call needs to move data (layout, plans) is derived
// at first use and cached on the type.
#pragma once

#include "element.h"
#include "status.h"
#include "support/handles.h"
#include "types/block_lists.h"

#include <ucd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <public_lists.h>
#include <vector>

namespace ucd {

// Base class of the cached data. The type only owns it, so this room does not depend on layouts or
// plans.
struct Type;
struct ListedBlocks;
struct CachedOnType {
    CachedOnType() = default;
    CachedOnType(const CachedOnType &) = delete;
    CachedOnType &operator=(const CachedOnType &) = delete;
    virtual ~CachedOnType() = default;
    // Recomputes the lists that the type has freed, see types/lists.h.
    virtual void list_blocks(const Type &type, bool lengths_too, ListedBlocks &blocks) const = 0;
};

// The constructor that the user called.
#define UCD_COMBINER(identifier, name) identifier,
enum class Combiner : uint8_t { predefined, UCD_EACH_CONSTRUCTOR(UCD_COMBINER) };
#undef UCD_COMBINER

// The forms that constructors are reduced to. Bounds, normalisation and flattening know only these.
enum class Form : uint8_t {
    element,       // a predefined type
    strided,       // `count` blocks, `stride` bytes apart
    indexed_block, // `count` blocks at displs[i] * unit
    indexed,       // the same, each block with its own length
    structure,     // the same, each block with its own type as well
    wrap,          // the child, displaced by `stride` bytes
    nest,          // nested strides; `arguments` are those of ndarray
    by_reference,  // `count` blocks at indices[i] * unit, which are read when data moves
};

// What of a packed stream comes before a member of a structure.
struct StreamPlace {
    uint64_t bytes = 0, elements = 0;
};

// A block has `blocklength` (or lengths[i]) children, one extent of the child apart.
struct Type {
    mutable std::atomic<uint64_t> references{1};
    Combiner combiner = Combiner::predefined;
    Form form = Form::element;
    bool permanent = false;          // predefined: not reference counted, never freed
    bool explicit_bounds = false;    // lb and ub were set by a constructor, here or further down
    Element element = Element::none; // the one representation of all elements, if there is one
    uint8_t predefined = 0;          // the one predefined handle value of all elements, or 0
    uint32_t alignment = 1;
    uint32_t ops = ~uint32_t{0}; // op_bit()s that every element supports, convertible_bit
    uint32_t nested_structs = 0; // struct constructors on the deepest path
    bool by_reference = false;   // this type, or one that it was built on, has that form
    bool unflattened = false;    // made from flattened bytes, or built on such a type
    mutable std::atomic<bool> moved{false}; // moved once already, see transfer/first_use.h
    bool any_empty = false;                 // indexed: one of the lengths is 0
    uint64_t flattened_bytes = 0; // size of the flattened bytes that it was made from, or 0

    uint64_t size = 0, elements = 0; // of the packed stream; see types/elements.h
    int64_t lb = 0, ub = 0, true_lb = 0, true_ub = 0;

    // For lists of blocks, the stride is the displacement of the first block, in bytes.
    int64_t count = 1, blocklength = 1, stride = 0, unit = 1;
    // The lists of indexed_block and indexed may be freed early, so they must be read by
    // types/lists.h.
    mutable BlockLists lists;
    // For indexed_block: the bits in which not all of its list's entries are equal; all bits if
    // that is not known.
    uint64_t differing = ~uint64_t{0};
    const void *indices = nullptr;         // by_reference: the caller's array, in any memory
    Element index_element = Element::none; // the type of the indices
    const Type *child = nullptr;
    std::unique_ptr<const Type *[]> children;           // structure
    std::unique_ptr<const StreamPlace[]> member_places; // structure, see types/elements.h

    // The user's arguments, if the members above do not keep them: vector's stride in elements; the
    // arguments of subarray, darray and ndarray in the order of their parameters.
    std::unique_ptr<int64_t[]> arguments;
    uint32_t argument_count = 0;

    mutable std::atomic<const CachedOnType *> cache{nullptr}; // see prepared/type_cache.h
    mutable const Type *next_dead = nullptr; // links types that are being freed, see release()
    HandleEntry entry;

    // A duplicate uses the cache of its original.
    bool shares_cache() const { return combiner == Combiner::dup; }
    // The type that this is a duplicate of, or this type.
    const Type &original() const {
        const Type *type = this;
        while (type->shares_cache()) type = type->child;
        return *type;
    }

    int64_t extent() const { return ub - lb; }
    int64_t displacement(int64_t i) const {
        return lists.displs[static_cast<std::size_t>(i)] * unit;
    }
    int64_t block_length(int64_t i) const {
        return lists.lengths.empty() ? blocklength : lists.lengths[static_cast<std::size_t>(i)];
    }
};

// Adds references.
void retain(const Type &type, uint64_t times = 1);

// Releases one reference; the last one frees the type and releases its children, without recursion.
void release(const Type *type);

struct Release {
    void operator()(const Type *type) const { release(type); }
};
using TypeOwner = std::unique_ptr<Type, Release>;
using ConstTypeOwner = std::unique_ptr<const Type, Release>;

// A type of which only combiner, form and child are set. Retains the child, unless it is null.
TypeOwner new_type(Combiner combiner, Form form, const Type *child);

// The type behind a handle; INVALID_ARG for null, for values that no predefined type has, and for
// what the check of handles finds. `argument` names the parameter in the message.
Status resolve_checked(ucd_type_t handle, const char *argument, const Type *&type);

inline Status resolve(ucd_type_t handle, const char *argument, const Type *&type) {
    if (is_checked_type(handle)) return resolve_checked(handle, argument, type);
    type = reinterpret_cast<const Type *>(handle);
    return success;
}

inline ucd_type_t handle_of(TypeOwner type) {
    add_handle(type->entry, type.get(), HandleKind::type);
    return reinterpret_cast<ucd_type_t>(type.release());
}

} // namespace ucd
