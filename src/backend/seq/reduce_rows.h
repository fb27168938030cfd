// Combines rows of blocks of elements in place with packed elements.
#pragma once

#include "leaves.h"

#include <utility>

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {

// The ops. `a` is the destination's element or vector of elements, `b` the source's; the result
// replaces `a`.
struct Sum {
    template <class V>
    UCD_SEQ_INLINE static V of(V a, V b) {
        return a + b;
    }
};
struct Max {
    template <class V>
    UCD_SEQ_INLINE static V of(V a, V b) {
        return b > a ? b : a;
    }
};
struct Min {
    template <class V>
    UCD_SEQ_INLINE static V of(V a, V b) {
        return b < a ? b : a;
    }
};

// A combined piece of `width` bytes. It is computed by the constructor, so several overlapping
// pieces can be computed before the first is stored.
template <class Op, class T, Direction direction, unsigned width>
class Combined {
public:
    UCD_SEQ_INLINE Combined(uintptr_t at, const char *packed) {
#pragma GCC unroll 2
        for (std::size_t k = 0; k < vectors; ++k) {
            V typed, other;
            __builtin_memcpy(&typed, pointer(at + k * bytes), bytes);
            __builtin_memcpy(&other, packed + k * bytes, bytes);
            values_[k] = direction == Direction::pack ? Op::of(other, typed) : Op::of(typed, other);
        }
    }
    UCD_SEQ_INLINE void store(uintptr_t at, char *packed) const {
#pragma GCC unroll 2
        for (std::size_t k = 0; k < vectors; ++k)
            __builtin_memcpy((direction == Direction::pack ? packed : pointer(at)) + k * bytes,
                             &values_[k], bytes);
    }

private:
    // Compilers compare vectors that are wider than a register element by element.
    static constexpr unsigned bytes = width < widest_register ? width : widest_register;
    static constexpr unsigned vectors = width / bytes;
    typedef T V __attribute__((vector_size(bytes)));
    V values_[vectors];
};

// For blocks of one element each. `step` is the stride in elements if it is a constant.
template <class Op, class T, Direction direction, unsigned step = 0>
UCD_SEQ_INLINE void combine_elements(uintptr_t at, uintptr_t stride, uint64_t count,
                                     char *__restrict packed_bytes) {
    typedef T Element __attribute__((aligned(1), may_alias));
    Element *__restrict const packed = reinterpret_cast<Element *>(packed_bytes);
    const uintptr_t distance = step > 0 ? step * sizeof(T) : stride;
    for (uint64_t i = 0; i < count; ++i) {
        Element *const typed = reinterpret_cast<Element *>(at + i * distance);
        if constexpr (direction == Direction::pack)
            packed[i] = Op::template of<T>(packed[i], *typed);
        else
            *typed = Op::template of<T>(*typed, packed[i]);
    }
}

// Same, if each element is in a cache line of its own that comes from memory: the lines are
// prefetched.
template <class Op, class T, Direction direction>
UCD_SEQ_INLINE void combine_elements_from_memory(uintptr_t at, uintptr_t stride, uint64_t count,
                                                 char *packed) {
    constexpr uint64_t early = 64;
    for (uint64_t i = 0; i < count; ++i) {
        __builtin_prefetch(pointer(at + early * stride), direction == Direction::unpack, 2);
        combine_elements<Op, T, direction>(at, stride, 1, packed);
        at += stride;
        packed += sizeof(T);
    }
}

// Combines a block in pieces of `width` bytes, of which the last two may overlap. All are computed
// before the first is stored.
template <class Op, class T, Direction direction, unsigned width, unsigned... k>
UCD_SEQ_INLINE void combine_block(uintptr_t at, uint64_t last, char *packed,
                                  std::integer_sequence<unsigned, k...>) {
    const auto begin = [last](unsigned piece) {
        return piece + 1 == sizeof...(k) ? last : uint64_t{piece} * width;
    };
    const Combined<Op, T, direction, width> pieces[] = {{at + begin(k), packed + begin(k)}...};
    (pieces[k].store(at + begin(k), packed + begin(k)), ...);
}

template <class Op, class T, Direction direction, unsigned width, unsigned pieces>
UCD_SEQ_INLINE void combine_blocks(uintptr_t at, uintptr_t stride, uint64_t count, uint64_t block,
                                   char *packed) {
    const uint64_t last = pieces == 1 ? 0 : block - width;
    for (; count > 0; --count) {
        combine_block<Op, T, direction, width>(at, last, packed,
                                               std::make_integer_sequence<unsigned, pieces>());
        at += stride;
        packed += pieces == 1 ? width : block;
    }
}

// Same, for longer blocks.
template <class Op, class T, Direction direction>
UCD_SEQ_INLINE void combine_long_blocks(uintptr_t at, uintptr_t stride, uint64_t count,
                                        uint64_t block, char *packed) {
    using Piece = Combined<Op, T, direction, widest>;
    const uint64_t last = block - widest;
    for (; count > 0; --count) {
        const Piece end(at + last, packed + last); // may overlap the piece before
        for (uint64_t done = 0; done < last; done += widest)
            Piece(at + done, packed + done).store(at + done, packed + done);
        end.store(at + last, packed + last);
        at += stride;
        packed += block;
    }
}

// For blocks of at least `width` bytes: of one piece, of overlapping pieces of up to the widest, or
// longer.
template <class Op, class T, Direction direction, unsigned width>
UCD_SEQ_INLINE void combine_by_width(uintptr_t at, uintptr_t stride, uint64_t count, uint64_t block,
                                     char *packed) {
    const auto blocks = [=]<unsigned pieces>() {
        combine_blocks<Op, T, direction, width, pieces>(at, stride, count, block, packed);
    };
    if (block == width) return blocks.template operator()<1>();
    if constexpr (width < widest) {
        if (block < uint64_t{2} * width) return blocks.template operator()<2>();
        combine_by_width<Op, T, direction, 2 * width>(at, stride, count, block, packed);
    } else {
        if (block <= uint64_t{2} * widest) return blocks.template operator()<2>();
        if (block <= uint64_t{3} * widest) return blocks.template operator()<3>();
        if (block <= uint64_t{4} * widest) return blocks.template operator()<4>();
        combine_long_blocks<Op, T, direction>(at, stride, count, block, packed);
    }
}

// Combines `count` blocks of `block` bytes of whole elements, at equal distances from `at` on.
template <class Op, class T, Direction direction>
UCD_SEQ_INLINE void combine_rows(uintptr_t at, uintptr_t stride, uint64_t count, uint64_t block,
                                 char *packed) {
    if (block == sizeof(T)) {
        constexpr uint64_t inner_caches = uint64_t{1} << 20;
        // performance only: it chooses between two ways that combine the same
        const uintptr_t distance = static_cast<intptr_t>(stride) < 0 ? 0 - stride : stride;
        if (stride == 2 * sizeof(T))
            return combine_elements<Op, T, direction, 2>(at, stride, count, packed);
        if (distance >= 64 && distance >= inner_caches / count) // performance only: as above
            return combine_elements_from_memory<Op, T, direction>(at, stride, count, packed);
        return combine_elements<Op, T, direction>(at, stride, count, packed);
    }
    combine_by_width<Op, T, direction, sizeof(T) < 8 ? 8 : 16>(at, stride, count, block, packed);
}

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
