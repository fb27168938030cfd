// Units of work for backends: moves of bytes between two sides, each of which is a layout or
// packed.
#pragma once

#include "direction.h"
#include "element.h"
#include "layout.h"
#include "memory.h"
#include "span.h"
#include "status.h"

#include <cstddef>
#include <cstdint>

namespace ucd {

class KernelPlan;

// A range of bytes of a packed stream.
struct Slice {
    uint64_t offset = 0, length = 0;
};

// The elements of a packed stream, for reductions. `kind` is the representation of all elements. If
// they differ, it is Element::none, and `runs`, a layout over the packed stream itself whose blocks
// have elements, tells which element is where.
struct Elements {
    Element kind = Element::none;
    Layout runs;
    int64_t extent = 0; // of one repetition of `runs`: the packed size of the type
};

enum class Engine : uint8_t {
    automatic,
    kernel,
    dma, // copy engines only (pitched_copies.h says what they support); never a kernel
};

struct Limits {
    uint32_t threads = 1;    // the most host threads for one call
    uint32_t max_blocks = 0; // the most compute units; 0: no limit
    Engine engine = Engine::automatic;
    friend bool operator==(const Limits &, const Limits &) = default;
};

// One side of a move: a range of the packed stream of (count, layout), or packed bytes.
struct Side {
    // Made by the backend that runs the move. A side without a plan is packed bytes, and what moves
    // begins at address + offset.
    const KernelPlan *plan = nullptr;
    char *address = nullptr; // of displacement 0; with a plan it may be null
    uint64_t count = 0;      // repetitions of the layout
    uint64_t offset = 0;     // of the first byte that moves, in the stream of all repetitions

    // The first byte that moves, if the side is packed.
    char *first() const {
        return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(address) + offset);
    }
};

// Moves a range of bytes of one side's stream to the other side: a pack or an unpack if one side is
// packed, else a copy. A conversion of elements may have any sides.
struct Move {
    Side from, to;
    uint64_t length = 0; // bytes to move, > 0; of a conversion, bytes of the stream of `from`
    Op op = Op::replace; // to = to op from; or a conversion
    // The kinds of memory of the two sides, as far as they affect how to launch.
    MemoryKind from_kind = MemoryKind::device, to_kind = MemoryKind::device;
    // Set for conversions that a backend does: all elements of a side are of this kind.
    Element from_element = Element::none, to_element = Element::none;
    Limits limits;
    const Elements *elements = nullptr; // of the streams; set for reductions

    bool is_copy() const { return from.plan != nullptr && to.plan != nullptr; }
    // The rest is for packs and unpacks.
    Direction direction() const {
        return from.plan != nullptr ? Direction::pack : Direction::unpack;
    }
    const Side &typed() const { return from.plan != nullptr ? from : to; }
    const Side &packed() const { return from.plan != nullptr ? to : from; }
    MemoryKind packed_kind() const { return from.plan != nullptr ? to_kind : from_kind; }
    Slice range() const { return {typed().offset, length}; }
    // Bytes of the range, counted from its first one.
    Move part(uint64_t begin, uint64_t bytes) const {
        Move part = *this;
        part.from.offset += begin;
        part.to.offset += begin;
        part.length = bytes;
        return part;
    }
};

// Moves to be launched together, in no particular order. The list does not own them.
using MoveList = Span<const Move>;

// The addresses of a move's two sides.
struct MoveAddresses {
    char *from, *to;
};

} // namespace ucd
