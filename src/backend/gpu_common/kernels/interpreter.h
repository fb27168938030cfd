// Walks any layout from its root for each run of bytes, and moves vectors of its packed stream.
#pragma once

#include "kernels/divide.h"
#include "kernels/entry_holding.h"
#include "kernels/words.h"
#include "params/interpreter.h"

namespace ucd::UCD_GPU {

template <class T>
UCD_GPU_FUNCTION T interpreter_entry(const char *lists, uint64_t list, uint64_t index) {
    return load_table(reinterpret_cast<const T *>(lists + list) + index);
}

// The entry of the node's list with first[entry] <= position < first[entry + 1].
UCD_GPU_FUNCTION uint64_t entry_holding(const char *lists, const InterpreterNode *node,
                                        uint64_t position) {
    const uint64_t starts = load_table(&node->starts), first = load_table(&node->first);
    const uint64_t granule = position >> load_table(&node->granule);
    return entry_holding<interpreter_entry<uint64_t>, uint64_t>(
        position, interpreter_entry<uint32_t>(lists, starts, granule),
        interpreter_entry<uint32_t>(lists, starts, granule + 1), lists, first);
}

UCD_GPU_FUNCTION uint64_t displacement_of(const char *lists, const InterpreterNode *node,
                                          uint64_t entry) {
    return interpreter_entry<uint64_t>(lists, load_table(&node->displacements), entry);
}

// A displacement from a caller's list; `index` is an index_* constant. The caller changes such a
// list only between launches, never while a kernel reads it.
UCD_GPU_FUNCTION uint64_t displacement_by_index(uint64_t indices, uint32_t index, uint64_t unit,
                                                uint64_t i) {
    if (index == index_64_bits) return load_table(list_pointer<uint64_t>(indices) + i) * unit;
    const uint32_t entry = load_table(list_pointer<uint32_t>(indices) + i);
    const uint64_t wide =
        index == index_uint32
            ? entry
            : static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(entry)));
    return wide * unit;
}

// Consecutive bytes of the layout.
struct Stretch {
    uintptr_t place;
    uint64_t bytes;
    const InterpreterNode *block;
};

// The address of stream byte `position`, and the number of bytes from there to the end of its
// block.
UCD_GPU_FUNCTION Stretch locate(const InterpretedLayout &p, uint64_t position) {
    const char *lists = list_pointer<char>(p.lists);
    const auto *nodes = reinterpret_cast<const InterpreterNode *>(lists + p.nodes);
    uint64_t place = p.typed;
    uint32_t id = p.root;
    for (;;) {
        const InterpreterNode *node = nodes + id;
        const uint32_t kind = load_table(&node->kind);
        if (kind == interpreter_block)
            return {place + position, load_table(&node->bytes) - position, node};
        if (kind == interpreter_structure) {
            const uint64_t entry = entry_holding(lists, node, position);
            position -= interpreter_entry<uint64_t>(lists, load_table(&node->first), entry);
            place += displacement_of(lists, node, entry);
            id = interpreter_entry<uint32_t>(lists, load_table(&node->children), entry);
            continue;
        }
        WideDivisor each;
        each.value = load_table(&node->each.value);
        each.magic = load_table(&node->each.magic);
        each.shift = load_table(&node->each.shift);
        const uint64_t child = quotient(position, each);
        position -= child * each.value;
        if (kind == interpreter_strided) {
            place += child * load_table(&node->stride);
        } else if (kind == interpreter_indexed_block) {
            place += displacement_of(lists, node, child);
        } else if (kind == interpreter_by_reference) {
            place +=
                displacement_by_index(load_table(&node->displacements), load_table(&node->granule),
                                      load_table(&node->stride), child);
        } else {
            const uint64_t run = entry_holding(lists, node, child);
            const uint64_t in_run =
                child - interpreter_entry<uint64_t>(lists, load_table(&node->first), run);
            place += displacement_of(lists, node, run) + in_run * load_table(&node->stride);
        }
        id = load_table(&node->child);
    }
}

// The 16 bytes of a vector in registers. There is no indexed access and no choice of a destination:
// for both, compilers would take an address and use memory.
class Bytes16 {
public:
    UCD_GPU_FUNCTION void put(uint32_t at, uint64_t word) {
        const uint64_t shifted = word << (8 * (at % 8));
        low_ |= at < 8 ? shifted : 0;
        high_ |= at < 8 ? 0 : shifted;
    }
    UCD_GPU_FUNCTION uint64_t get(uint32_t at) const {
        return at < 8 ? low_ >> (8 * at) : high_ >> (8 * (at - 8));
    }
    UCD_GPU_FUNCTION Quad quad() const {
        Quad q;
        q.x = static_cast<uint32_t>(low_);
        q.y = static_cast<uint32_t>(low_ >> 32);
        q.z = static_cast<uint32_t>(high_);
        q.w = static_cast<uint32_t>(high_ >> 32);
        return q;
    }
    UCD_GPU_FUNCTION void set(const Quad &q) {
        low_ = q.x | static_cast<uint64_t>(q.y) << 32;
        high_ = q.z | static_cast<uint64_t>(q.w) << 32;
    }

private:
    uint64_t low_ = 0, high_ = 0;
};

// Moves a vector that is in the range as a whole, in words that all blocks consist of.
template <Direction direction, unsigned width>
UCD_GPU_FUNCTION void move_whole_vector(const InterpreterParams &p, uintptr_t packed,
                                        uint64_t position) {
    Bytes16 bytes;
    if constexpr (direction == Direction::unpack) bytes.set(load<Quad>(packed));
    for (uint32_t i = 0; i < vector_bytes;) {
        Stretch s = locate(p.layout, position + i);
        if (s.bytes > vector_bytes - i) s.bytes = vector_bytes - i;
        const auto end = i + static_cast<uint32_t>(s.bytes);
        for (; i < end; i += width, s.place += width) {
            if constexpr (direction == Direction::pack)
                bytes.put(i, load<Word<width>>(s.place));
            else
                store<Word<width>>(s.place, static_cast<Word<width>>(bytes.get(i)));
        }
    }
    if constexpr (direction == Direction::pack) store<Quad>(packed, bytes.quad());
}

template <Direction direction>
UCD_GPU_FUNCTION void move_whole_vector_of_16(const InterpreterParams &p, uintptr_t packed,
                                              uint64_t position) {
    const uintptr_t place = locate(p.layout, position).place;
    if constexpr (direction == Direction::pack)
        store<Quad>(packed, load<Quad>(place));
    else
        store<Quad>(place, load<Quad>(packed));
}

template <Direction direction>
UCD_GPU_FUNCTION void move_part_of_vector(const InterpreterParams &p, uintptr_t packed,
                                          uint64_t position, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; ++i) {
        const uintptr_t place = locate(p.layout, position + i).place;
        if constexpr (direction == Direction::pack)
            store<uint8_t>(packed + i, load<uint8_t>(place));
        else
            store<uint8_t>(place, load<uint8_t>(packed + i));
    }
}

// Moves vector `v`, of which only the bytes in the range are touched.
template <Direction direction>
UCD_GPU_FUNCTION void interpret_vector(const InterpreterParams &p, uint64_t v) {
    const uintptr_t packed = p.packed + v * vector_bytes;
    const uint64_t position = p.position + v * vector_bytes;
    const uint32_t head = v == 0 ? p.head : 0;
    const uint32_t tail = v + 1 == p.vectors ? p.tail : vector_bytes;
    if (head != 0 || tail != vector_bytes)
        return move_part_of_vector<direction>(p, packed, position, head, tail);
    switch (p.width) {
    case 16: move_whole_vector_of_16<direction>(p, packed, position); break;
    case 8: move_whole_vector<direction, 8>(p, packed, position); break;
    case 4: move_whole_vector<direction, 4>(p, packed, position); break;
    case 2: move_whole_vector<direction, 2>(p, packed, position); break;
    default: move_whole_vector<direction, 1>(p, packed, position); break;
    }
}

} // namespace ucd::UCD_GPU
