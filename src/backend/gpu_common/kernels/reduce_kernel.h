// The body of the generated reduction kernels. Neighbouring threads take neighbouring vectors or
// elements of the packed stream. The nesting of the layout is read from the parameters, so that
// there is only one kernel for each op and element.
#pragma once

#include "kernels/combine.h"
#include "kernels/member_tiles.h"
#include "kernels/nest_kernel.h"
#include "params/reduce.h"

namespace ucd::UCD_GPU {

// A displacement from a list, in bytes.
UCD_GPU_FUNCTION int64_t in_bytes(int64_t displacement, const NestList &list, uint32_t shift) {
    return list.displacement_unit == 0 ? displacement : displacement << shift;
}

// The address of a word, for any levels.
UCD_GPU_FUNCTION uintptr_t place_in_levels(const ReduceParams &p, uint32_t word) {
    int64_t displacement = 0;
#pragma unroll 1
    for (unsigned k = 0; k < p.levels; ++k) {
        const NestLevel &level = p.nest.level[k];
        const NestList &list = p.nest.list[k];
        const uint32_t child = quotient(word, level.each);
        word -= child * level.each.value;
        if (p.kinds[k] == LevelKind::strided) {
            displacement += steps(child, level) << p.shift;
        } else if (p.kinds[k] == LevelKind::indexed_block) {
            displacement += in_bytes(displacement_of_child<1>(list, child), list, p.shift);
        } else {
            const uint32_t run = run_holding(list, child);
            const uint32_t in_run = child - load_table(list_pointer<uint32_t>(list.first) + run);
            displacement += in_bytes(displacement_at<1>(list, run), list, p.shift) +
                            (steps(in_run, level) << p.shift);
        }
    }
    return p.nest.typed + static_cast<uintptr_t>(displacement) +
           (static_cast<uintptr_t>(word) << p.shift);
}

// The 16 bytes of one side.
template <class T>
union Elements16 {
    static constexpr unsigned count = vector_bytes / sizeof(T);
    Quad whole;
    uint64_t half[2];
    T element[count];
};

template <Op op, class T>
UCD_GPU_FUNCTION void reduce_vector(const ReduceParams &p, uint32_t vector) {
    const uintptr_t packed_at = p.nest.packed + static_cast<uintptr_t>(vector) * vector_bytes;
    const uintptr_t place = place_in_levels(p, p.nest.first_word + vector);
    using E = Elements16<T>;
    E packed, typed;
    packed.whole = load<Quad>(packed_at);
    typed.whole = load<Quad>(place);
    if (p.direction == Direction::pack) {
#pragma unroll
        for (unsigned i = 0; i < E::count; ++i)
            packed.element[i] = combined<op>(packed.element[i], typed.element[i]);
        store<Quad>(packed_at, packed.whole);
        return;
    }
#pragma unroll
    for (unsigned i = 0; i < E::count; ++i)
        typed.element[i] = combined<op>(typed.element[i], packed.element[i]);
    store<Quad>(place, typed.whole);
}

// Loads an element at an address that is a multiple of its size, or of 8.
template <class T>
UCD_GPU_FUNCTION T load_element(uintptr_t address) {
    if constexpr (sizeof(T) < vector_bytes)
        return __builtin_bit_cast(T, load<Word<sizeof(T)>>(address));
    Elements16<T> halves;
    halves.half[0] = load<uint64_t>(address);
    halves.half[1] = load<uint64_t>(address + 8);
    return halves.element[0];
}
template <class T>
UCD_GPU_FUNCTION void store_element(uintptr_t address, T value) {
    if constexpr (sizeof(T) < vector_bytes) {
        store(address, __builtin_bit_cast(Word<sizeof(T)>, value));
    } else {
        Elements16<T> halves;
        halves.element[0] = value;
        store<uint64_t>(address, halves.half[0]);
        store<uint64_t>(address + 8, halves.half[1]);
    }
}

// Reduces elements one after the other: `from` and `to` are offsets in bytes from nest.packed.
template <Op op, class T>
UCD_GPU_FUNCTION void reduce_elements(const ReduceParams &p, uint64_t from, uint64_t to) {
    const uint32_t within = (1u << p.shift) - 1;
#pragma unroll 1
    for (uint64_t at = from; at < to; at += sizeof(T)) {
        const uint32_t word = p.nest.first_word + static_cast<uint32_t>(at >> p.shift);
        const uintptr_t place = place_in_levels(p, word) + (at & within);
        const uintptr_t packed = p.nest.packed + at;
        const T a = load_element<T>(place), b = load_element<T>(packed);
        if (p.direction == Direction::pack)
            store_element(packed, combined<op>(b, a));
        else
            store_element(place, combined<op>(a, b));
    }
}

// The work of one thread.
template <Op op, class T>
UCD_GPU_FUNCTION void reduce_share(const ReduceParams &p, uint32_t i) {
    uint64_t from = uint64_t{i} * sizeof(T), to = from + sizeof(T);
    if (p.by != ReduceBy::elements) {
        const uint32_t head = i == 0 ? p.nest.head : 0;
        const uint32_t tail = i + 1 == p.nest.vectors ? p.nest.tail : vector_bytes;
        if (head == 0 && tail == vector_bytes) return reduce_vector<op, T>(p, i);
        from = uint64_t{i} * vector_bytes + head;
        to = uint64_t{i} * vector_bytes + tail;
    }
    reduce_elements<op, T>(p, from, to);
}

template <Op op, class T>
UCD_GPU_FUNCTION void run_reduce(const ReduceParams &p) {
    run_shares(p.nest.vectors, [&](uint32_t i) { reduce_share<op, T>(p, i); });
}

template <Op op, class T>
UCD_GPU_FUNCTION void run_reduce_batch(const BatchParams &batch) {
    run_member_threads<ReduceParams>(batch, [](const ReduceParams &p, uint64_t i) {
        if (i < p.nest.vectors) reduce_share<op, T>(p, static_cast<uint32_t>(i));
    });
}

} // namespace ucd::UCD_GPU
