// Finds the generated kernels for the best instruction set of this machine. Their names follow
// docs/internals/kernel-naming.md.
#pragma once

#include "direction.h"
#include "element.h"
#include "nest.h"
#include "transpose.h"

#include <cstdint>
#include <span>

namespace ucd::seq {

enum class LevelKind : uint8_t { strided, indexed_block, indexed };

// How one block, or one run of blocks, is copied.
enum class Leaf : uint8_t {
    // For blocks, if the innermost level is s or b:
    w1, // exactly this many bytes: one access
    w2,
    w4,
    w8,
    w16,
    o3, // more bytes than the leaf before, and up to this many: one access at each end
    o8,
    o16,
    o24,
    o32,
    o40,
    o48,
    o64,
    o80,
    o96,
    o128,
    p64, // up to 512 bytes: pieces of 64 bytes
    m,   // any number of bytes: memcpy
    // For runs, if the innermost level is i and a block is a multiple of this many bytes:
    r1,
    r2,
    r4,
    r8,
    r16,
    count_
};

constexpr Leaf leaf_for_block(uint64_t bytes) {
    switch (bytes) {
    case 0: return Leaf::m;
    case 1: return Leaf::w1;
    case 2: return Leaf::w2;
    case 4: return Leaf::w4;
    case 8: return Leaf::w8;
    case 16: return Leaf::w16;
    default: break;
    }
    return bytes <= 3     ? Leaf::o3
           : bytes <= 8   ? Leaf::o8
           : bytes <= 16  ? Leaf::o16
           : bytes <= 24  ? Leaf::o24
           : bytes <= 32  ? Leaf::o32
           : bytes <= 40  ? Leaf::o40
           : bytes <= 48  ? Leaf::o48
           : bytes <= 64  ? Leaf::o64
           : bytes <= 80  ? Leaf::o80
           : bytes <= 96  ? Leaf::o96
           : bytes <= 128 ? Leaf::o128
           : bytes <= 512 ? Leaf::p64
                          : Leaf::m;
}

constexpr Leaf leaf_for_runs(uint64_t unit) {
    return unit % 16 == 0  ? Leaf::r16
           : unit % 8 == 0 ? Leaf::r8
           : unit % 4 == 0 ? Leaf::r4
           : unit % 2 == 0 ? Leaf::r2
                           : Leaf::r1;
}

// The names of all kernels, each with its NUL. The instruction sets share them.
extern const char kernel_names[];

// The name of a kernel is kept as its offset in this text. In a library that can be loaded at any
// address, a pointer would take 24 bytes more, for its relocation.
struct NamedKernel {
    uint16_t name_at;

    const char *name() const { return kernel_names + name_at; }
};

struct MoveKernelInfo : NamedKernel {
    Direction direction;
    uint8_t levels;
    LevelKind kinds[max_levels]; // the outermost first
    Leaf leaf;
    MoveKernel function;

    constexpr std::span<const LevelKind> shape() const { return {kinds, levels}; }
};

struct TransposeKernelInfo : NamedKernel {
    Leaf leaf;
    TransposeKernel function;
};

// An entry for each pair of an op and an element. Elements that differ only in properties that the
// op ignores, such as signedness in a sum, share a kernel and its name.
struct ReduceKernelInfo : NamedKernel {
    Op op;
    Element element;
    ReduceKernel function;
};

// Same, for rows of blocks in place.
struct RowReduceKernelInfo : NamedKernel {
    Direction direction;
    Op op;
    Element element;
    RowReduceKernel function;
};

// Converts `count` elements. `saturate` is for Op::convert_sat.
using ConvertKernel = void (*)(void *out, const void *in, uint64_t count, bool saturate);

// An entry for each pair of representations; see converted_part(). Kernels are shared where
// signedness does not matter.
struct ConvertKernelInfo : NamedKernel {
    Element from, to;
    ConvertKernel function;
};

// The kernel for a nest of 1 to max_levels levels, given from the outermost. If a leaf does not fit
// the innermost level, it is the kernel for blocks of any size.
const MoveKernelInfo &move_kernel(Direction direction, std::span<const LevelKind> shape, Leaf leaf);

// The kernel for a matrix to transpose. Most leaves share the kernel for blocks of any size.
const TransposeKernelInfo &transpose_kernel(Leaf leaf);

// Null if defined_ops() lacks the reduction, for Op::replace, which is a move, and in a core that is
// built with UCD_NO_REDUCTIONS.
ReduceKernel reduce_kernel(Op op, Element element);

// Null for most reductions: only the common ops of the common elements have such a kernel.
RowReduceKernel row_reduce_kernel(Direction direction, Op op, Element element);

// Null if the bits of both are equal, or if the conversion is not defined. Both are representations
// of real numbers.
ConvertKernel convert_kernel(Element from, Element to);

} // namespace ucd::seq
