#include "vendor.hpp"

#include "baselines/particles.hpp"

#include <algorithm>
#include <cstdint>

namespace bench {
namespace {

constexpr unsigned threads = 256, max_blocks = 512;

template <class Word>
__device__ void copy_words(char *to, const char *from, std::size_t bytes) {
    const std::size_t step = std::size_t{gridDim.x} * threads;
    for (std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x; i < bytes / sizeof(Word);
         i += step)
        reinterpret_cast<Word *>(to)[i] = reinterpret_cast<const Word *>(from)[i];
}

// blockIdx.y is the field. Each in the widest words that it allows.
template <bool pack>
__global__ void __launch_bounds__(threads) move_fields(FieldParts parts, char *packed) {
    const unsigned field = blockIdx.y;
    char *there = parts.at[field], *here = packed + parts.packed[field];
    const std::size_t bytes = parts.bytes[field];
    char *to = pack ? here : there;
    const char *from = pack ? there : here;
    const std::size_t both =
        reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
    if (both % 16 == 0)
        copy_words<uint4>(to, from, bytes);
    else if (both % 8 == 0)
        copy_words<uint2>(to, from, bytes);
    else if (both % 4 == 0)
        copy_words<unsigned>(to, from, bytes);
    else
        copy_words<unsigned short>(to, from, bytes);
}

template <bool pack>
void start(const FieldParts &parts, char *packed) {
    const std::size_t longest =
        *std::max_element(parts.bytes, parts.bytes + particle_fields.size());
    const auto blocks =
        static_cast<unsigned>(std::clamp<std::size_t>(longest / 16 / threads, 1, max_blocks));
    move_fields<pack>
        <<<dim3(blocks, static_cast<unsigned>(particle_fields.size())), threads>>>(parts, packed);
}

void start_packing(const FieldParts &parts, char *packed) {
    start<true>(parts, packed);
}
void start_unpacking(const FieldParts &parts, const char *packed) {
    start<false>(parts, const_cast<char *>(packed));
}

} // namespace

ParticleMoves gpu_particles() {
    return {start_packing, start_unpacking};
}

} // namespace bench
