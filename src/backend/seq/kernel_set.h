// All kernels of one instruction set, and how they are found. Everything except the functions
// themselves is computed at compile time.
#pragma once

#include "kernel_tables.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ucd::seq {

inline constexpr size_t directions = 2, ops = static_cast<size_t>(Op::count_),
                        elements = static_cast<size_t>(Element::count_),
                        leaves = static_cast<size_t>(Leaf::count_);
inline constexpr size_t kinds = 3, shapes = kinds + kinds * kinds + kinds * kinds * kinds;
static_assert(max_levels == 3);

// The key of a kernel, a number that tells it from the others of its list.
constexpr size_t key_of(Leaf leaf) {
    return static_cast<size_t>(leaf);
}
// Orders shapes by length, and those of equal length as numbers in base 3.
constexpr size_t key_of(Direction direction, std::span<const LevelKind> shape, Leaf leaf) {
    size_t index = 0;
    for (const LevelKind kind : shape) index = index * kinds + static_cast<size_t>(kind) + 1;
    return (static_cast<size_t>(direction) * shapes + index - 1) * leaves + key_of(leaf);
}
constexpr size_t key_of(Op op, Element element) {
    return static_cast<size_t>(op) * elements + static_cast<size_t>(element);
}
constexpr size_t key_of(Direction direction, Op op, Element element) {
    return static_cast<size_t>(direction) * ops * elements + key_of(op, element);
}
constexpr size_t key_of(Element from, Element to) {
    return static_cast<size_t>(from) * elements + static_cast<size_t>(to);
}
constexpr size_t key_of(const MoveKernelInfo &k) {
    return key_of(k.direction, k.shape(), k.leaf);
}
constexpr size_t key_of(const TransposeKernelInfo &k) {
    return key_of(k.leaf);
}
constexpr size_t key_of(const ReduceKernelInfo &k) {
    return key_of(k.op, k.element);
}
constexpr size_t key_of(const RowReduceKernelInfo &k) {
    return key_of(k.direction, k.op, k.element);
}
constexpr size_t key_of(const ConvertKernelInfo &k) {
    return key_of(k.from, k.to);
}

template <class Info>
concept HasLeaf = requires(Info kernel) {
    kernel.leaf;
};

// A list of kernels, and how they are found. If kernels have leaves, all leaves are first mapped to
// the portable kernel, and then to a kernel of their own if the list has one.
template <class Info, size_t keys>
class KernelList : public std::span<const Info> {
public:
    consteval explicit KernelList(std::span<const Info> kernels)
        : std::span<const Info>(kernels), at_{} {
        for (uint16_t &entry : at_) entry = none;
        uint16_t i = 0;
        if constexpr (HasLeaf<Info>) {
            for (Info each : kernels) {
                const bool is_portable = each.leaf == Leaf::m || each.leaf == Leaf::r1;
                for (size_t leaf = 0; is_portable && leaf < leaves; ++leaf) {
                    each.leaf = static_cast<Leaf>(leaf);
                    at_[key_of(each)] = i;
                }
                ++i;
            }
            i = 0;
        }
        for (const Info &each : kernels) at_[key_of(each)] = i++;
    }

    consteval bool complete() const {
        for (const uint16_t entry : at_)
            if (entry == none) return false;
        return true;
    }

    // Null if the list has no such kernel.
    template <class... Key>
    constexpr const Info *find(Key... key) const {
        const uint16_t i = at_[key_of(key...)];
        return i == none ? nullptr : &(*this)[i];
    }

private:
    static constexpr uint16_t none = UINT16_MAX;
    uint16_t at_[keys];
};

using MoveKernels = KernelList<MoveKernelInfo, directions * shapes * leaves>;
using TransposeKernels = KernelList<TransposeKernelInfo, leaves>;
using ReduceKernels = KernelList<ReduceKernelInfo, ops * elements>;
using RowReduceKernels = KernelList<RowReduceKernelInfo, directions * ops * elements>;
// Only the default set has all conversions.
using ConvertKernels = KernelList<ConvertKernelInfo, elements * elements>;

struct ListLooks; // list_looks.h

struct KernelSet {
    const char *instructions;
    const MoveKernels &moves;
    const TransposeKernels &transposes;
    const ReduceKernels &reductions;
    const RowReduceKernels &row_reductions;
    const ConvertKernels &conversions;
    const ListLooks &looks;
};

// The kernel sets that this machine can run, the fastest first. The last one is the compiler's
// default.
std::span<const KernelSet *const> kernel_sets();

} // namespace ucd::seq
