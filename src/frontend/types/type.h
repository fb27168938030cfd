// A datatype as the user built it: constructor, arguments, children and bounds. It is reference
// counted, and immutable once published. What a call needs to move data (layout, plans) is derived
// at first use and cached on the type.
#pragma once

#include "element.h"
#include "status.h"
#include "support/handles.h"
#include <ucd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <public_lists.h>
#include <vector>

namespace ucd {

// Base class of the cached data. The type only owns it, so this room does not depend on layouts or
// plans.
struct CachedOnType {
    CachedOnType() = default;
    CachedOnType(const CachedOnType &) = delete;
    CachedOnType &operator=(const CachedOnType &) = delete;
    virtual ~CachedOnType() = default;
};

// The lists of a type, in the form that layouts and kernels read. They stay with the type for its
// life, and their memory is kept for the next type.
struct BlockLists {
    std::vector<int64_t> displs; // in bytes from the first block
    // If blocks have lengths of their own: the number of children before each, and their total.
    std::vector<uint64_t> first;
    BlockLists() = default;
    ~BlockLists();
    BlockLists(const BlockLists &) = delete;
    BlockLists &operator=(const BlockLists &) = delete;
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

// The lengths of blocks of their own, in children.
struct BlockLengths {
    int64_t shortest = INT64_MAX, longest = 0;
    void add(int64_t least, int64_t most) {
        shortest = least < shortest ? least : shortest;
        longest = most > longest ? most : longest;
    }
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
    uint64_t flattened_bytes = 0; // size of the flattened bytes that it was made from, or 0

    uint64_t size = 0, elements = 0; // of the packed stream; see types/elements.h
    int64_t lb = 0, ub = 0, true_lb = 0, true_ub = 0;

    // For lists of blocks, the stride is the displacement of the first block, in bytes.
    int64_t count = 1, blocklength = 1, stride = 0, unit = 1;
    BlockLists lists;
    BlockLengths lengths; // indexed
    // For indexed_block: the bits that are set in any of its list's displacements; all bits if that
    // is not known.
    uint64_t displ_bits = ~uint64_t{0};
    const void *indices = nullptr;         // by_reference: the caller's array, in any memory
    Element index_element = Element::none; // the type of the indices
    const Type *child = nullptr;
    std::unique_ptr<const Type *[]> children;           // structure
    std::unique_ptr<const StreamPlace[]> member_places; // structure, see types/elements.h

    // The user's arguments, if the members above do not keep them: vector's stride in elements; the
    // arguments of subarray, darray and ndarray in the order of their parameters; the first
    // displacements of a list from which given_displacement() cannot compute them.
    std::unique_ptr<int64_t[]> arguments;
    uint32_t argument_count = 0;

    mutable std::atomic<CachedOnType *> cache{nullptr}; // see prepared/type_cache.h
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
    // Of block i, in bytes. Wraps: only sums in range are used.
    int64_t displacement(int64_t i) const {
        return static_cast<int64_t>(
            static_cast<uint64_t>(stride) +
            static_cast<uint64_t>(lists.displs[static_cast<std::size_t>(i)]));
    }
    int64_t block_length(int64_t i) const {
        if (lists.first.empty()) return blocklength;
        const uint64_t *const first = &lists.first[static_cast<std::size_t>(i)];
        return static_cast<int64_t>(first[1] - first[0]);
    }
    // The displacement of block i as it was given to the constructor, for the first
    // `described_blocks`.
    static constexpr int64_t described_blocks = 16;
    int64_t given_displacement(int64_t i) const {
        return argument_count > 0 ? arguments[i] : displacement(i) / unit;
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
