// A datatype as the user built it: constructor, arguments, children and bounds. It is reference
// counted, and immutable once published. What a call needs to move data (layout, plans) is derived
// at first use and cached on the type.
#pragma once

#include "element.h"
#include "status.h"
#include "support/handles.h"
#include "support/short_list.h"
#include <ucd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <public_lists.h>
#include <span>
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

// The constructor that the user called.
#define UCD_COMBINER(identifier, name) identifier,
enum class Combiner : uint8_t { predefined, UCD_EACH_CONSTRUCTOR(UCD_COMBINER) };
#undef UCD_COMBINER

// The forms that constructors are reduced to. Bounds, normalisation and flattening know only these.
// Each but the first has a class of its own with the members that it needs.
enum class Form : uint8_t {
    element,       // a predefined type
    nest,          // NestType
    indexed_block, // IndexedBlockType
    indexed,       // IndexedType
    structure,     // StructureType
    by_reference,  // ByReferenceType
};

struct Type;

// What changes while a type is in use. All else is fixed once the type is published.
struct TypeState {
    std::atomic<uint64_t> references{1};
    std::atomic<CachedOnType *> cache{nullptr}; // see prepared/type_cache.h
    std::atomic<bool> moved{false};             // moved once already, see transfer/host.h
    const Type *next_dead = nullptr;            // links types that are being freed, see release()
};

// What callers can ask of a type, whatever its form.
struct TypeProperties {
    uint64_t size = 0, elements = 0; // of the packed stream; see types/elements.h
    int64_t lb = 0, ub = 0, true_lb = 0, true_ub = 0;
    uint32_t alignment = 1;
    uint32_t ops = ~uint32_t{0};     // op_bit()s that every element supports, convertible_bit
    uint32_t nested_structs = 0;     // struct constructors on the deepest path
    Element element = Element::none; // the one representation of all elements, if there is one
    uint8_t predefined = 0;          // the one predefined handle value of all elements, or 0
    bool explicit_bounds = false;    // lb and ub were set by a constructor, here or further down
    bool by_reference = false;       // this type, or one that it was built on, has that form
    bool unflattened = false;        // made from flattened bytes, or built on such a type

    int64_t extent() const { return ub - lb; }
};

// The number of blocks of a list of which ucd_describe shows the arguments.
inline constexpr int64_t described_blocks = 16;

struct Type : TypeProperties {
    Type() = default;
    Type(const Type &) = delete;
    Type &operator=(const Type &) = delete;
    virtual ~Type() = default;

    const Form form = Form::element;
    Combiner combiner = Combiner::predefined;
    bool permanent = false; // predefined: not reference counted, never freed
    mutable TypeState state;
    const Type *child = nullptr; // null for elements and structures
    // The user's arguments, if nothing else keeps them: those of subarray and darray in the order
    // of their parameters; a vector's stride and the first displacements of a list, in the unit of
    // the constructor, where they cannot be computed from those in bytes.
    std::vector<int64_t> arguments;
    HandleEntry entry;

    // A duplicate uses the cache of its original.
    bool shares_cache() const { return combiner == Combiner::dup; }
    // The type that this is a duplicate of, or this type.
    const Type &original() const {
        const Type *type = this;
        while (type->shares_cache()) type = type->child;
        return *type;
    }

protected:
    // Retains the child, if there is one.
    Type(Form f, Combiner c, const Type *below);
};

// One level of a nest: `count` times what is below, `stride` bytes apart.
struct StrideLevel {
    int64_t count, stride;
};

// The child in nested strides. With no levels, it is only displaced.
struct NestType final : Type {
    NestType(Combiner c, const Type &below) : Type(Form::nest, c, &below) {}

    int64_t at = 0;                   // the displacement of the first child, in bytes
    ShortList<StrideLevel, 2> levels; // the innermost first
    uint64_t flattened_bytes = 0;     // size of the flattened bytes that it was made from, or 0

    // Whether there is one child.
    bool is_single() const {
        return std::all_of(levels.begin(), levels.end(),
                           [](StrideLevel l) { return l.count == 1; });
    }
};

// Blocks of children, one extent of the child apart, at listed displacements. The lists have the
// form that layouts and kernels read. They stay with the type for its life, and their memory is
// kept for the next type.
struct ListType : Type {
    ~ListType() override;

    int64_t at = 0;              // the displacement of the first block, in bytes
    std::vector<int64_t> displs; // in bytes from the first block
    int64_t blocklength = 1;     // the number of children of each block, if all have the same
    // Otherwise the number of children before each block, and their total.
    std::vector<uint64_t> first;

    int64_t count() const { return static_cast<int64_t>(displs.size()); }
    // Whether the user gave a list of lengths, which may be equal.
    bool has_lengths() const {
        return combiner == Combiner::indexed || combiner == Combiner::hindexed;
    }
    // Of block i, in bytes. Wraps: only sums in range are used.
    int64_t displacement(int64_t i) const {
        return static_cast<int64_t>(static_cast<uint64_t>(at) +
                                    static_cast<uint64_t>(displs[static_cast<std::size_t>(i)]));
    }
    int64_t block_length(int64_t i) const {
        if (first.empty()) return blocklength;
        const uint64_t *const sums = &first[static_cast<std::size_t>(i)];
        return static_cast<int64_t>(sums[1] - sums[0]);
    }
    // The type of the children of block i.
    const Type &member(int64_t i) const;

protected:
    using Type::Type;
};

struct IndexedBlockType final : ListType {
    IndexedBlockType(Combiner c, const Type &below) : ListType(Form::indexed_block, c, &below) {}

    // The bits that are set in any displacement of the list; all bits if that is not known.
    uint64_t displ_bits = ~uint64_t{0};
};

// The lengths of blocks of their own, in children.
struct BlockLengths {
    int64_t shortest = INT64_MAX, longest = 0;
    void add(int64_t least, int64_t most) {
        shortest = least < shortest ? least : shortest;
        longest = most > longest ? most : longest;
    }
};

struct IndexedType final : ListType {
    IndexedType(Combiner c, const Type &below) : ListType(Form::indexed, c, &below) {}

    BlockLengths lengths;
};

// What of a packed stream comes before a member of a structure.
struct StreamPlace {
    uint64_t bytes = 0, elements = 0;
};

struct StructureType final : ListType {
    StructureType() : ListType(Form::structure, Combiner::structure, nullptr) {}

    std::vector<const Type *> children;     // one for each block
    std::vector<StreamPlace> member_places; // see types/elements.h

    const Type &member(int64_t i) const { return *children[static_cast<std::size_t>(i)]; }
};

// `count` blocks at indices[i] * unit, which are read when data moves.
struct ByReferenceType final : Type {
    ByReferenceType(Combiner c, const Type &below) : Type(Form::by_reference, c, &below) {}

    int64_t count = 0, blocklength = 0, unit = 1;
    const void *indices = nullptr; // the caller's array, in any memory
    Element index_element = Element::none;
};

// The type as the class of its form.
template <class T>
const T &as(const Type &type) {
    return static_cast<const T &>(type);
}

// Whether it is a list of blocks of one type.
inline bool is_indexed(const Type &type) {
    return type.form == Form::indexed_block || type.form == Form::indexed;
}

inline const Type &ListType::member(int64_t i) const {
    return child != nullptr ? *child : as<StructureType>(*this).member(i);
}

// The types that the type was built on: the members of a structure, or the one child if there is
// one.
std::span<const Type *const> children_of(const Type &type);

// The type below nests with one child, and how far they displace it.
struct DisplacedType {
    const Type *type;
    int64_t by = 0; // wraps
};
DisplacedType below_displacements(const Type &type);

// Adds references.
inline void retain(const Type &type, uint64_t times = 1) {
    if (!type.permanent) type.state.references.fetch_add(times, std::memory_order_relaxed);
}

inline Type::Type(Form f, Combiner c, const Type *below) : form(f), combiner(c), child(below) {
    if (child != nullptr) retain(*child);
}

// Releases one reference; the last one frees the type and releases its children, without recursion.
void release(const Type *type);

struct Release {
    void operator()(const Type *type) const { release(type); }
};
template <class T>
using TypeOwnerOf = std::unique_ptr<T, Release>;
using TypeOwner = TypeOwnerOf<Type>;
using ConstTypeOwner = TypeOwnerOf<const Type>;
using NestOwner = TypeOwnerOf<NestType>;

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
