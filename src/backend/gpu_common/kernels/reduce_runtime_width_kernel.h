// The body of the kernel that reduces any elements in any layout: elements of several kinds, of odd
// sizes or at odd addresses, split by padding, or too many for 31 bits. A thread takes the elements
// that start in one vector of the packed stream.
#pragma once

#include "kernels/combine.h"
#include "kernels/interpreter.h"
#include "kernels/member_tiles.h"
#include "kernels/runtime_width.h"
#include "params/reduce.h"

namespace ucd::UCD_GPU {

// These convert between elements and their packed bytes.

template <class T>
UCD_GPU_FUNCTION T scalar_at(const Bytes16 &bytes, uint32_t at) {
    return __builtin_bit_cast(T, static_cast<Word<sizeof(T)>>(bytes.get(at)));
}
template <class T>
UCD_GPU_FUNCTION void put_scalar(Bytes16 &bytes, uint32_t at, T value) {
    bytes.put(at, __builtin_bit_cast(Word<sizeof(T)>, value));
}

template <class T>
struct Packed {
    UCD_GPU_FUNCTION static T get(const Bytes16 &bytes) { return scalar_at<T>(bytes, 0); }
    UCD_GPU_FUNCTION static void put(Bytes16 &bytes, T value) { put_scalar(bytes, 0, value); }
};
template <class T>
struct Packed<Complex<T>> {
    UCD_GPU_FUNCTION static Complex<T> get(const Bytes16 &bytes) {
        return {scalar_at<T>(bytes, 0), scalar_at<T>(bytes, sizeof(T))};
    }
    UCD_GPU_FUNCTION static void put(Bytes16 &bytes, Complex<T> value) {
        put_scalar(bytes, 0, value.real);
        put_scalar(bytes, sizeof(T), value.imaginary);
    }
};
template <class Value, class Index>
struct Packed<Pair<Value, Index>> {
    UCD_GPU_FUNCTION static Pair<Value, Index> get(const Bytes16 &bytes) {
        return {scalar_at<Value>(bytes, 0), scalar_at<Index>(bytes, sizeof(Value))};
    }
    UCD_GPU_FUNCTION static void put(Bytes16 &bytes, Pair<Value, Index> value) {
        put_scalar(bytes, 0, value.value);
        put_scalar(bytes, sizeof(Value), value.index);
    }
};

template <Op op, class T>
UCD_GPU_FUNCTION Bytes16 combined_bytes(const Bytes16 &a, const Bytes16 &b) {
    Bytes16 result;
    Packed<T>::put(result, combined<op>(Packed<T>::get(a), Packed<T>::get(b)));
    return result;
}

UCD_GPU_FUNCTION Stretch stretch_at(const ReduceAnyParams &p, uint64_t position) {
    if (p.layout.lists == 0) return {p.layout.typed + position, ~uint64_t{0}, nullptr};
    return locate(p.layout, position);
}

// The address of byte `i` of the element at stream byte `position`. `first` is the element's first
// stretch; the layout is walked only if the byte is beyond it.
UCD_GPU_FUNCTION uintptr_t place_in_element(const ReduceAnyParams &p, const Stretch &first,
                                            uint64_t position, uint32_t i) {
    return i < first.bytes ? first.place + i : stretch_at(p, position + i).place;
}

// The kind of element at stream byte `position`, and the number of bytes of this kind before it.
struct LocatedElement {
    uint32_t element;
    uint64_t before;
};
UCD_GPU_FUNCTION LocatedElement element_at(const ReduceAnyParams &p, uint64_t position) {
    if (p.elements.lists == 0) return {static_cast<uint32_t>(p.element), position};
    const Stretch s = locate(p.elements, position);
    return {load_table(&s.block->element), load_table(&s.block->bytes) - s.bytes};
}

// combine(number, a, b) applies the reduction kernel of that number.
template <class Combine>
UCD_GPU_FUNCTION void reduce_one(const ReduceAnyParams &p, uint64_t position, ReduceKind kind,
                                 uintptr_t packed, Combine combine) {
    const uint32_t size = kind.size;
    const Stretch first = stretch_at(p, position);
    const auto bits = static_cast<uint32_t>(position) | size | p.width | 8;
    const uint32_t width = bits & (~bits + 1);
    const bool pack = p.direction == Direction::pack;
    Bytes16 a, b; // destination and source
#pragma unroll 1
    for (uint32_t i = 0; i < size; i += width) {
        const uint64_t typed_word = load_word(place_in_element(p, first, position, i), width);
        const uint64_t packed_word = load_word(packed + i, width);
        a.put(i, pack ? packed_word : typed_word);
        b.put(i, pack ? typed_word : packed_word);
    }
    const Bytes16 result = combine(kind.number, a, b);
#pragma unroll 1
    for (uint32_t i = 0; i < size; i += width) {
        const uintptr_t place = pack ? packed + i : place_in_element(p, first, position, i);
        store_word(place, width, result.get(i));
    }
}

// Reduces the elements that start in one vector.
template <class Combine>
UCD_GPU_FUNCTION void reduce_any_share(const ReduceAnyParams &p, uint64_t v, Combine combine) {
    const uintptr_t packed = p.packed + v * vector_bytes;
    const uint64_t position = p.position + v * vector_bytes;
    const uint32_t end = v + 1 == p.vectors ? p.tail : vector_bytes;
    uint32_t i = p.head;
    if (v > 0) { // an element that starts in the vector before may reach into this one
        const LocatedElement first = element_at(p, position);
        const uint32_t size = p.kinds[first.element].size;
        const auto cut = static_cast<uint32_t>(first.before % size);
        i = cut == 0 ? 0 : size - cut;
    }
    while (i < end) {
        const ReduceKind kind = p.kinds[element_at(p, position + i).element];
        reduce_one(p, position + i, kind, packed + i, combine);
        i += kind.size;
    }
}

template <class Combine>
UCD_GPU_FUNCTION void run_reduce_any(const ReduceAnyParams &p, Combine combine) {
    run_shares(p.vectors, [&](uint64_t v) { reduce_any_share(p, v, combine); });
}

template <class Combine>
UCD_GPU_FUNCTION void run_reduce_any_batch(const BatchParams &batch, Combine combine) {
    run_member_threads<ReduceAnyParams>(batch, [combine](const ReduceAnyParams &p, uint64_t v) {
        if (v < p.vectors) reduce_any_share(p, v, combine);
    });
}

} // namespace ucd::UCD_GPU
