// Finds the addresses of words by a table, which replaces the constants of a generated kernel.
#pragma once

#include "kernels/interpreter.h"
#include "kernels/levels.h"
#include "kernels/words.h"
#include "params/table_shape.h"

namespace ucd::UCD_GPU {

// These read entries of a table: from device memory, or from the launch's parameters.
struct TableInMemory {
    const char *table;
    template <class T>
    UCD_GPU_FUNCTION T entry(uint32_t section, uint32_t index) const {
        return load_table(reinterpret_cast<const T *>(table + section) + index);
    }
};
struct TableInParams {
    const char *table;
    template <class T>
    UCD_GPU_FUNCTION T entry(uint32_t section, uint32_t index) const {
        return reinterpret_cast<const T *>(table + section)[index];
    }
};

UCD_GPU_FUNCTION uint64_t joined(uint32_t low, uint32_t high) {
    return low | static_cast<uint64_t>(high) << 32;
}

// A layout and its address, with what a thread needs to walk it.
struct Walked {
    uintptr_t typed;
    uint32_t shape, levels, shift, kinds, lists; // see TableShape
    Quad outermost;                              // the outermost level, read in advance
};

template <class Table>
class TablePlaces {
public:
    static constexpr unsigned known_width = 0;
    using Layout = Walked;

    UCD_GPU_FUNCTION TablePlaces(const Table &table, uint32_t shapes, uint32_t lists)
        : table_(table), shapes_(shapes), lists_(lists) {}

    UCD_GPU_FUNCTION Walked at(uint32_t shape, uintptr_t typed) const {
        const Quad head = table_.template entry<Quad>(shapes_, shape * 4);
        const Quad outermost = table_.template entry<Quad>(shapes_, shape * 4 + 1);
        return {typed, shape, head.x, head.y, head.z, head.w, outermost};
    }

    // The layout for the interpreter, which uses 64-bit positions. Sets `position` to the start
    // position of the shape.
    UCD_GPU_FUNCTION InterpretedLayout interpreted(const Walked &m, uint64_t &position) const {
        const Quad rest = table_.template entry<Quad>(shapes_, m.shape * 4 + 2);
        position = joined(rest.x, rest.y);
        InterpretedLayout layout;
        layout.lists = joined(m.outermost.x, m.outermost.y);
        layout.nodes = joined(m.outermost.z, m.outermost.w);
        layout.typed = m.typed;
        layout.root = m.lists;
        return layout;
    }

    // Finds the addresses of words at the given stream positions. Handles one level for all words
    // before the next, so that each level is read once.
    template <unsigned count>
    UCD_GPU_FUNCTION void find(const Walked &m, uint32_t (&position)[count],
                               uintptr_t (&places)[count]) const {
        int64_t displacement[count];
#pragma unroll
        for (unsigned i = 0; i < count; ++i) displacement[i] = 0;
        for (uint32_t k = 0; k < m.levels; ++k) {
            const Quad q =
                k == 0 ? m.outermost : table_.template entry<Quad>(shapes_, m.shape * 4 + 1 + k);
            NestLevel level;
            level.each.value = q.x;
            level.each.magic = q.y;
            level.each.shift = q.z;
            level.stride = static_cast<int32_t>(q.w);
            const uint32_t kind = m.kinds >> (2 * k) & 3;
            if (kind == static_cast<uint32_t>(LevelKind::strided)) {
#pragma unroll
                for (unsigned i = 0; i < count; ++i)
                    descend<1, LevelKind::strided>(level, {}, position[i], displacement[i]);
                continue;
            }
            const NestList list = list_at(m.lists + k);
#pragma unroll
            for (unsigned i = 0; i < count; ++i) {
                const uint32_t child = quotient(position[i], level.each);
                position[i] -= child * level.each.value;
                if (kind == static_cast<uint32_t>(LevelKind::indexed_block)) {
                    displacement[i] +=
                        in_words(displacement_of_child<1>(list, child), list, m.shift);
                } else {
                    const uint32_t run = run_holding(list, child);
                    displacement[i] +=
                        in_words(displacement_at<1>(list, run), list, m.shift) +
                        steps(child - load_table(list_pointer<uint32_t>(list.first) + run), level);
                }
            }
        }
#pragma unroll
        for (unsigned i = 0; i < count; ++i)
            places[i] =
                m.typed + (static_cast<uintptr_t>(displacement[i] + position[i]) << m.shift);
    }

private:
    UCD_GPU_FUNCTION NestList list_at(uint32_t index) const {
        const Quad a = table_.template entry<Quad>(lists_, index * 2);
        const Quad b = table_.template entry<Quad>(lists_, index * 2 + 1);
        NestList list;
        list.displacements = joined(a.x, a.y);
        list.first = joined(a.z, a.w);
        list.starts = joined(b.x, b.y);
        list.displacement_unit = b.z;
        list.granule = b.w;
        return list;
    }

    // A displacement from a list, in words, the unit of strides.
    UCD_GPU_FUNCTION static int64_t in_words(int64_t displacement, const NestList &list,
                                             uint32_t shift) {
        return list.displacement_unit == 0 ? displacement >> shift : displacement;
    }

    const Table &table_;
    const uint32_t shapes_, lists_;
};

} // namespace ucd::UCD_GPU
