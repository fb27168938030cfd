// Loads and stores of kernels through pointers to global memory, for vendors whose generic pointers
// cost more.
#pragma once

namespace ucd::UCD_GPU {

// A generic pointer may also point to shared memory, which costs each access a check of its address
// space. Pointers to global memory avoid this, but only scalars and vectors can be accessed through
// them.
typedef uint32_t RawQuad __attribute__((ext_vector_type(4)));
template <std::size_t alignment>
struct RawOf;
template <>
struct RawOf<1> {
    using Type = uint8_t;
};
template <>
struct RawOf<2> {
    using Type = uint16_t;
};
template <>
struct RawOf<4> {
    using Type = uint32_t;
};
template <>
struct RawOf<8> {
    using Type = uint64_t;
};
template <>
struct RawOf<16> {
    using Type = RawQuad;
};
template <class T>
struct RawWords {
    using Word = typename RawOf<alignof(T)>::Type;
    Word word[sizeof(T) / sizeof(Word)];
};
template <class Word>
using InGlobal = __attribute__((address_space(1))) Word;

template <class T>
UCD_GPU_FUNCTION T load(uintptr_t address) {
    using Raw = RawWords<T>;
    Raw raw;
    const auto *from = reinterpret_cast<InGlobal<const typename Raw::Word> *>(address);
    for (std::size_t i = 0; i < sizeof raw.word / sizeof raw.word[0]; ++i) raw.word[i] = from[i];
    return __builtin_bit_cast(T, raw);
}
template <class T>
UCD_GPU_FUNCTION void store(uintptr_t address, T value) {
    using Raw = RawWords<T>;
    const Raw raw = __builtin_bit_cast(Raw, value);
    auto *to = reinterpret_cast<InGlobal<typename Raw::Word> *>(address);
    for (std::size_t i = 0; i < sizeof raw.word / sizeof raw.word[0]; ++i) to[i] = raw.word[i];
}

} // namespace ucd::UCD_GPU
