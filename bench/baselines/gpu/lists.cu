#include "baselines/gpu/lists.hpp"

#include <stdexcept>

namespace bench::gpu::hand {
namespace {

constexpr unsigned threads = 256;

template <class Word, unsigned words_per_piece>
__global__ void __launch_bounds__(threads)
    pack_pieces(const std::int32_t *indices, std::uint64_t words, const Word *typed, Word *packed) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= words) return;
    const std::int64_t piece = indices[i / words_per_piece];
    packed[i] = typed[piece * words_per_piece + i % words_per_piece];
}

template <class Word, unsigned piece>
void launch(const std::int32_t *indices, unsigned entries, const char *typed, char *packed) {
    constexpr unsigned words_per_piece = piece / sizeof(Word);
    const std::uint64_t words = std::uint64_t{entries} * words_per_piece;
    pack_pieces<Word, words_per_piece>
        <<<static_cast<unsigned>((words + threads - 1) / threads), threads>>>(
            indices, words, reinterpret_cast<const Word *>(typed),
            reinterpret_cast<Word *>(packed));
}

} // namespace

void pack_list(int piece, const std::int32_t *indices, unsigned entries, const char *typed,
               char *packed) {
    switch (piece) {
    case 8: return launch<std::uint64_t, 8>(indices, entries, typed, packed);
    case 512: return launch<uint4, 512>(indices, entries, typed, packed);
    case 4096: return launch<uint4, 4096>(indices, entries, typed, packed);
    case 16384: return launch<uint4, 16384>(indices, entries, typed, packed);
    default: throw std::runtime_error("no kernel by hand for pieces of this size");
    }
}

} // namespace bench::gpu::hand
