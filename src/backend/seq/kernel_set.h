// All kernels of one instruction set, and how they are found. Everything except the functions
// themselves is computed at compile time.
#pragma once

#include "kernel_tables.h"
#include "list_looks.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ucd::seq {

constexpr bool is_portable(Leaf leaf) {
    return leaf == Leaf::m || leaf == Leaf::r1;
}

// Indexes a list of move kernels. All leaves of a shape are first mapped to the portable kernel of
// that shape, and then to a kernel of their own if the list has one.
class MoveIndex {
public:
    consteval explicit MoveIndex(std::span<const MoveKernelInfo> kernels) : at_{} {
        for (uint16_t &entry : at_) entry = none;
        for (size_t i = 0; i < kernels.size(); ++i) {
            if (!is_portable(kernels[i].leaf)) continue;
            const size_t row = place(kernels[i].direction, kernels[i].shape(), Leaf{});
            for (size_t leaf = 0; leaf < leaves; ++leaf) at_[row + leaf] = static_cast<uint16_t>(i);
        }
        for (size_t i = 0; i < kernels.size(); ++i)
            at_[place(kernels[i].direction, kernels[i].shape(), kernels[i].leaf)] =
                static_cast<uint16_t>(i);
    }

    consteval bool complete() const {
        for (const uint16_t entry : at_)
            if (entry == none) return false;
        return true;
    }

    constexpr size_t find(Direction direction, std::span<const LevelKind> shape, Leaf leaf) const {
        return at_[place(direction, shape, leaf)];
    }

private:
    static constexpr uint16_t none = UINT16_MAX;
    static constexpr size_t kinds = 3, directions = 2, leaves = static_cast<size_t>(Leaf::count_);
    static constexpr size_t shapes = kinds + kinds * kinds + kinds * kinds * kinds;
    static_assert(max_levels == 3);

    // Orders shapes by length, and those of equal length as numbers in base 3.
    static constexpr size_t place(Direction direction, std::span<const LevelKind> shape,
                                  Leaf leaf) {
        size_t index = 0;
        for (const LevelKind kind : shape) index = index * kinds + static_cast<size_t>(kind) + 1;
        return (static_cast<size_t>(direction) * shapes + index - 1) * leaves +
               static_cast<size_t>(leaf);
    }

    uint16_t at_[directions * shapes * leaves];
};

// Same, for transposes.
class TransposeIndex {
public:
    consteval explicit TransposeIndex(std::span<const TransposeKernelInfo> kernels) : at_{} {
        for (uint8_t &entry : at_) entry = none;
        for (size_t i = 0; i < kernels.size(); ++i)
            if (is_portable(kernels[i].leaf))
                for (uint8_t &entry : at_) entry = static_cast<uint8_t>(i);
        for (size_t i = 0; i < kernels.size(); ++i)
            at_[static_cast<size_t>(kernels[i].leaf)] = static_cast<uint8_t>(i);
    }

    consteval bool complete() const {
        for (const uint8_t entry : at_)
            if (entry == none) return false;
        return true;
    }

    constexpr size_t find(Leaf leaf) const { return at_[static_cast<size_t>(leaf)]; }

private:
    static constexpr uint8_t none = UINT8_MAX;
    uint8_t at_[static_cast<size_t>(Leaf::count_)];
};

class ReduceIndex {
public:
    static constexpr size_t none = UINT16_MAX;

    consteval explicit ReduceIndex(std::span<const ReduceKernelInfo> kernels) : at_{} {
        for (auto &op : at_)
            for (uint16_t &entry : op) entry = none;
        for (size_t i = 0; i < kernels.size(); ++i)
            at_[static_cast<size_t>(kernels[i].op)][static_cast<size_t>(kernels[i].element)] =
                static_cast<uint16_t>(i);
    }

    // Whether the generated kernels are exactly the reductions that the contract defines.
    consteval bool matches_contract() const {
        for (size_t op = 0; op < ops; ++op)
            for (size_t element = 0; element < elements; ++element) {
                const bool defined =
                    is_reduction(static_cast<Op>(op)) &&
                    (defined_ops(static_cast<Element>(element)) & op_bit(static_cast<Op>(op))) != 0;
                if (defined != (at_[op][element] != none)) return false;
            }
        return true;
    }

    constexpr size_t find(Op op, Element element) const {
        return at_[static_cast<size_t>(op)][static_cast<size_t>(element)];
    }

private:
    static constexpr size_t ops = static_cast<size_t>(Op::count_);
    static constexpr size_t elements = static_cast<size_t>(Element::count_);

    uint16_t at_[ops][elements];
};

// Same, for rows.
class RowReduceIndex {
public:
    static constexpr size_t none = UINT8_MAX;

    consteval explicit RowReduceIndex(std::span<const RowReduceKernelInfo> kernels) : at_{} {
        for (auto &direction : at_)
            for (auto &op : direction)
                for (uint8_t &entry : op) entry = none;
        for (size_t i = 0; i < kernels.size(); ++i)
            at_[static_cast<size_t>(kernels[i].direction)][static_cast<size_t>(kernels[i].op)]
               [static_cast<size_t>(kernels[i].element)] = static_cast<uint8_t>(i);
    }

    constexpr size_t find(Direction direction, Op op, Element element) const {
        return at_[static_cast<size_t>(direction)][static_cast<size_t>(op)]
                  [static_cast<size_t>(element)];
    }

private:
    uint8_t at_[2][static_cast<size_t>(Op::count_)][static_cast<size_t>(Element::count_)];
};

// Only the default set has all conversions.
class ConvertIndex {
public:
    static constexpr size_t none = UINT8_MAX;

    consteval explicit ConvertIndex(std::span<const ConvertKernelInfo> kernels) : at_{} {
        for (auto &from : at_)
            for (uint8_t &entry : from) entry = none;
        for (size_t i = 0; i < kernels.size(); ++i)
            at_[static_cast<size_t>(kernels[i].from)][static_cast<size_t>(kernels[i].to)] =
                static_cast<uint8_t>(i);
    }

    // Whether the generated kernels are exactly the conversions that change bits.
    consteval bool matches_contract() const {
        for (size_t from = 0; from < elements; ++from)
            for (size_t to = 0; to < elements; ++to) {
                const auto source = static_cast<Element>(from), target = static_cast<Element>(to);
                const bool changes = converted_part(source) == source &&
                                     is_convertible(source, target) &&
                                     !has_same_bits(source, target);
                if (changes != (at_[from][to] != none)) return false;
            }
        return true;
    }

    constexpr size_t find(Element from, Element to) const {
        return at_[static_cast<size_t>(from)][static_cast<size_t>(to)];
    }

private:
    static constexpr size_t elements = static_cast<size_t>(Element::count_);

    uint8_t at_[elements][elements];
};

struct KernelSet {
    const char *instructions;
    std::span<const MoveKernelInfo> moves;
    std::span<const TransposeKernelInfo> transposes;
    std::span<const ReduceKernelInfo> reductions;
    std::span<const RowReduceKernelInfo> row_reductions;
    std::span<const ConvertKernelInfo> conversions;
    const MoveIndex &move_index;
    const TransposeIndex &transpose_index;
    const ReduceIndex &reduce_index;
    const RowReduceIndex &row_reduce_index;
    const ConvertIndex &convert_index;
    const ListLooks &looks;
};

// The kernel sets that this machine can run, the fastest first. The last one is the compiler's
// default.
std::span<const KernelSet *const> kernel_sets();

} // namespace ucd::seq
