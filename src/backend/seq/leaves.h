// The innermost part of the move kernels, which copies one block or run.
//
// Addresses on the typed side are integers, because a null origin with absolute displacements is
// legal, for which pointer arithmetic would be undefined.
#pragma once

#include "direction.h"
#include "instructions.h"

#include <cstdint>

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {

#define UCD_SEQ_INLINE [[gnu::always_inline]] inline

// A function of which one copy should serve all callers. If the compiler could specialise such
// copies, each file gets its own.
#if defined(__clang__)
#define UCD_SEQ_ONE_COPY [[gnu::noinline]]
#else
#define UCD_SEQ_ONE_COPY [[gnu::noinline, gnu::noclone]]
#endif

UCD_SEQ_INLINE char *pointer(uintptr_t address) {
    return reinterpret_cast<char *>(address);
}

template <unsigned width>
UCD_SEQ_INLINE void copy(char *__restrict to, const char *__restrict from) {
    __builtin_memcpy(to, from, width);
}

// The widest access. On NEON, this is several registers.
#if defined(UCD_SEQ_HAS_AVX512F)
constexpr unsigned widest = 64;
#elif defined(UCD_SEQ_HAS_AVX2) || defined(UCD_SEQ_HAS_NEON)
constexpr unsigned widest = 32;
#else
constexpr unsigned widest = 16;
#endif

#if defined(UCD_SEQ_HAS_NEON)
constexpr unsigned widest_register = 16;
#else
constexpr unsigned widest_register = widest;
#endif

// Copies at least `width` bytes in pieces of `width` bytes, of which the last two may overlap.
template <unsigned width>
UCD_SEQ_INLINE void copy_pieces(char *__restrict to, const char *__restrict from, uint64_t bytes) {
    const uint64_t last = bytes - width;
    for (uint64_t done = 0; done < last; done += width) copy<width>(to + done, from + done);
    copy<width>(to + last, from + last);
}

// Copies from `width` to twice as many bytes.
template <unsigned width>
UCD_SEQ_INLINE void copy_ends(char *__restrict to, const char *__restrict from, uint64_t bytes) {
    copy<width>(to, from);
    copy<width>(to + (bytes - width), from + (bytes - width));
}

// Copies a number of bytes that changes from run to run, with few branches, and none for each unit.
// `unit`, a power of two, divides `bytes`.
template <unsigned unit>
UCD_SEQ_INLINE void copy_run(char *__restrict to, const char *__restrict from, uint64_t bytes) {
    if (bytes > 1024)
        __builtin_memcpy(to, from, bytes);
    else if (bytes >= uint64_t{2} * widest)
        copy_pieces<widest>(to, from, bytes);
    else if (bytes >= widest)
        copy_ends<widest>(to, from, bytes);
    else if (widest > 32 && bytes >= 32)
        copy_ends<32>(to, from, bytes);
    else if (unit >= 16 || bytes >= 16)
        copy_ends<16>(to, from, bytes);
    else if (unit == 8)
        copy<8>(to, from);
    else if (bytes >= 8)
        copy_ends<8>(to, from, bytes);
    else if (unit == 4)
        copy<4>(to, from);
    else if (bytes >= 4)
        copy_ends<4>(to, from, bytes);
    else if (unit == 2)
        copy<2>(to, from);
    else if (bytes >= 2)
        copy_ends<2>(to, from, bytes);
    else
        copy<1>(to, from);
}

// The integer type for a register of this width.
template <unsigned width>
struct Word;
template <>
struct Word<1> {
    using type = uint8_t;
};
template <>
struct Word<2> {
    using type = uint16_t;
};
template <>
struct Word<4> {
    using type = uint32_t;
};
template <>
struct Word<8> {
    using type = uint64_t;
};
template <>
struct Word<16> {
    typedef uint64_t type __attribute__((vector_size(16)));
};

// Leaves. They are constructed from the size of a block, the size of the longest run and the number
// of runs, and move() moves one block. Blocks of a `small` leaf cost less than the end of a row.
// Leaves that take units have an additional loop for lists of units (see nest.h); only the common
// sizes do, because each loop costs code.

// A block of exactly this width.
template <Direction direction_, unsigned width_>
struct Exact {
    static constexpr Direction direction = direction_;
    static constexpr unsigned width = width_;
    static constexpr bool small = true, exact = true;
    using Value = typename Word<width>::type;

    constexpr explicit Exact(uint64_t = width, uint64_t = 0, uint64_t = 0) {}
    static constexpr uint64_t bytes() { return width; }
    UCD_SEQ_INLINE static Value load(uintptr_t at, const char *packed) {
        Value value;
        __builtin_memcpy(&value, direction == Direction::pack ? pointer(at) : packed, width);
        return value;
    }
    UCD_SEQ_INLINE static void store(Value value, uintptr_t at, char *packed) {
        __builtin_memcpy(direction == Direction::pack ? packed : pointer(at), &value, width);
    }
    UCD_SEQ_INLINE static void move(uintptr_t at, char *packed) {
        store(load(at, packed), at, packed);
    }
};

// Two accesses, one at each end, which may overlap. A processor merges stores that follow each
// other in memory, but a packed tail of which most was written before takes half as long again.
// When packing, a tail of one or two bytes is therefore written alone.
template <Direction direction, unsigned head, unsigned tail>
struct Ends {
    static constexpr bool small = head <= 16, exact = false;
    uint64_t block;

    explicit Ends(uint64_t bytes, uint64_t = 0, uint64_t = 0) : block(bytes) {}
    uint64_t bytes() const { return block; }
    UCD_SEQ_INLINE void move(uintptr_t at, char *packed) const {
        if constexpr (direction == Direction::pack && may_be_short)
            if (block - head <= 2) return pack_short_tail(at, packed);
        const uint64_t end = block - tail;
        if constexpr (head <= 16) {
            const auto first = Exact<direction, head>::load(at, packed);
            const auto last = Exact<direction, tail>::load(at + end, packed + end);
            Exact<direction, head>::store(first, at, packed);
            Exact<direction, tail>::store(last, at + end, packed + end);
        } else if constexpr (direction == Direction::pack) {
            copy<head>(packed, pointer(at));
            copy<tail>(packed + end, pointer(at + end));
        } else {
            copy<head>(pointer(at), packed);
            copy<tail>(pointer(at + end), packed + end);
        }
    }

private:
    // Blocks of 9, 10, 17 or 18 bytes: one or two numbers, and one or two characters. Other sizes
    // are too rare to be worth the code.
    static constexpr bool may_be_short = (head == 8 || head == 16) && tail == 8;

    UCD_SEQ_INLINE void pack_short_tail(uintptr_t at, char *packed) const {
        copy<head>(packed, pointer(at));
        asm volatile("" : : : "memory"); // keeps compilers from storing the tail first
        if (block - head == 1)
            copy<1>(packed + head, pointer(at + head));
        else
            copy<2>(packed + head, pointer(at + head));
    }
};

template <Direction direction, unsigned width>
struct Pieces {
    static constexpr bool small = false, exact = false;
    uint64_t block;

    explicit Pieces(uint64_t bytes, uint64_t = 0, uint64_t = 0) : block(bytes) {}
    uint64_t bytes() const { return block; }
    // Piece by piece, because loading several before the first is stored is slower beyond the inner
    // caches.
    UCD_SEQ_INLINE void move(uintptr_t at, char *packed) const {
        const uint64_t last = block - width;
#pragma GCC unroll 2
        for (uint64_t done = 0; done < last; done += width) move_piece(at, packed, done);
        move_piece(at, packed, last);
    }

private:
    UCD_SEQ_INLINE static void move_piece(uintptr_t at, char *packed, uint64_t begin) {
        if constexpr (direction == Direction::pack)
            copy<width>(packed + begin, pointer(at + begin));
        else
            copy<width>(pointer(at + begin), packed + begin);
    }
};

template <Direction direction>
struct Any {
    static constexpr bool small = false, exact = false;
    uint64_t block;

    explicit Any(uint64_t bytes, uint64_t = 0, uint64_t = 0) : block(bytes) {}
    uint64_t bytes() const { return block; }
    UCD_SEQ_INLINE void move(uintptr_t at, char *packed) const {
        if constexpr (direction == Direction::pack)
            __builtin_memcpy(packed, pointer(at), block);
        else
            __builtin_memcpy(pointer(at), packed, block);
    }
};

// A run of `children` contiguous blocks.
template <Direction direction, unsigned unit>
struct Run {
    uint64_t block, longest, runs; // bytes of a block and of the longest run; number of runs

    explicit Run(uint64_t bytes, uint64_t longest_run, uint64_t number)
        : block(bytes), longest(longest_run), runs(number) {}
    uint64_t bytes(uint64_t children) const { return children * block; }
    UCD_SEQ_INLINE void move(uintptr_t at, char *packed, uint64_t children) const {
        if constexpr (direction == Direction::pack)
            copy_run<unit>(packed, pointer(at), bytes(children));
        else
            copy_run<unit>(pointer(at), packed, bytes(children));
    }
};

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
