#include "baselines/gpu/kernels.hpp"
#include "baselines/gpu/nest_words.cuh"

#include "vendor.hpp"

namespace bench::gpu::hand {
namespace {

constexpr unsigned threads = 256;

// Threads move neighbouring 16 bytes of the packed side, `each` times; Place gives the address of a
// word of the stream.
template <bool pack, unsigned width, unsigned each, class Place>
__global__ void __launch_bounds__(threads)
    move_words(char *typed, char *packed, const std::int32_t *list, std::uint32_t vectors) {
    constexpr unsigned words = 16 / width;
    union Vector {
        uint4 whole;
        Word<width> word[words];
    };
    const std::uint32_t first = blockIdx.x * (threads * each) + threadIdx.x;
    Vector v[each];
    uint4 *out = reinterpret_cast<uint4 *>(packed);
#pragma unroll
    for (unsigned i = 0; i < each; ++i) {
        const std::uint32_t at = first + i * threads;
        if (at >= vectors) continue;
        if (pack) {
#pragma unroll
            for (unsigned k = 0; k < words; ++k)
                v[i].word[k] =
                    *reinterpret_cast<const Word<width> *>(typed + Place::of(at * words + k, list));
        } else {
            v[i].whole = out[at];
        }
    }
#pragma unroll
    for (unsigned i = 0; i < each; ++i) {
        const std::uint32_t at = first + i * threads;
        if (at >= vectors) continue;
        if (pack) {
            out[at] = v[i].whole;
        } else {
#pragma unroll
            for (unsigned k = 0; k < words; ++k)
                *reinterpret_cast<Word<width> *>(typed + Place::of(at * words + k, list)) =
                    v[i].word[k];
        }
    }
}

template <unsigned width, unsigned each, class Place, std::int64_t bytes>
HandMove words_kernel(const char *way) {
    constexpr std::uint32_t vectors = bytes / 16;
    constexpr std::uint32_t blocks = (vectors + threads * each - 1) / (threads * each);
    return {way,
            [](const Lists &lists, char *typed, char *packed) {
                move_words<true, width, each, Place>
                    <<<blocks, threads>>>(typed, packed, lists.displs, vectors);
            },
            [](const Lists &lists, char *typed, char *packed) {
                move_words<false, width, each, Place>
                    <<<blocks, threads>>>(typed, packed, lists.displs, vectors);
            }};
}

// Threads move neighbouring words, groups of 32 of them the words of neighbouring vectors.
template <bool pack, unsigned width, class Place>
__global__ void __launch_bounds__(threads)
    move_neighbours(char *typed, char *packed, const std::int32_t *list, std::uint32_t words) {
    constexpr unsigned each = 16 / width, group = 32;
    const std::uint32_t thread = blockIdx.x * threads + threadIdx.x;
    const std::uint32_t first = thread / group * group * each + thread % group;
    auto *const stream = reinterpret_cast<Word<width> *>(packed);
    Word<width> word[each];
    Word<width> *place[each];
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
        const std::uint32_t at = first + k * group;
        if (at >= words) continue;
        place[k] = reinterpret_cast<Word<width> *>(typed + Place::of(at, list));
        word[k] = pack ? *place[k] : stream[at];
    }
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
        const std::uint32_t at = first + k * group;
        if (at < words) (pack ? stream[at] : *place[k]) = word[k];
    }
}

template <unsigned width, class Place, std::int64_t bytes>
HandMove neighbours_kernel() {
    constexpr std::uint32_t words = bytes / width;
    constexpr std::uint32_t blocks = (bytes / 16 + threads - 1) / threads;
    return {"neighbouring words",
            [](const Lists &lists, char *typed, char *packed) {
                move_neighbours<true, width, Place>
                    <<<blocks, threads>>>(typed, packed, lists.displs, words);
            },
            [](const Lists &lists, char *typed, char *packed) {
                move_neighbours<false, width, Place>
                    <<<blocks, threads>>>(typed, packed, lists.displs, words);
            }};
}

template <unsigned width, class Shape>
std::span<const HandMove> nest_kernels() {
    constexpr std::int64_t bytes = Shape::nest.bytes();
    using Place = InNest<width, Shape>;
    static const HandMove kernels[] = {words_kernel<width, 1, Place, bytes>("1 vector a thread"),
                                       words_kernel<width, 2, Place, bytes>("2 vectors a thread"),
                                       words_kernel<width, 4, Place, bytes>("4 vectors a thread"),
                                       neighbours_kernel<width, Place, bytes>()};
    return kernels;
}

// Units of a list.
template <unsigned width, unsigned unit>
struct InList {
    static __device__ std::int64_t of(std::uint32_t word, const std::int32_t *list) {
        constexpr unsigned each = unit / width;
        return static_cast<std::int64_t>(__ldg(list + word / each)) * unit + word % each * width;
    }
};

template <std::int64_t side>
struct InTriangle { // rows of 1, 2, 3, ... doubles
    static __device__ std::int64_t of(std::uint32_t word, const std::int32_t *) {
        auto row = static_cast<std::uint32_t>((sqrtf(8.0f * static_cast<float>(word) + 1) - 1) / 2);
        while (row * (row + 1) / 2 > word) --row;
        while ((row + 1) * (row + 2) / 2 <= word) ++row;
        return (static_cast<std::int64_t>(row) * side + (word - row * (row + 1) / 2)) * 8;
    }
};

struct InRecords {
    static __device__ std::int64_t of(std::uint32_t byte, const std::int32_t *) {
        const std::uint32_t record = byte / record_fields;
        return record * static_cast<std::int64_t>(record_extent) + (byte - record * record_fields);
    }
};

// Records by way of shared memory: whole aligned words on both sides of the memory, bytes between.
constexpr unsigned records_per_block = 256;
template <bool pack, std::int64_t records>
__global__ void __launch_bounds__(threads) move_records(char *typed, char *packed) {
    __shared__ uint4 stage[records_per_block * record_fields / 16];
    char *bytes = reinterpret_cast<char *>(stage);
    const std::uint32_t first = blockIdx.x * records_per_block;
    const std::uint32_t count = min(records_per_block, static_cast<unsigned>(records) - first);
    const std::uint32_t stream = count * record_fields;
    uint4 *out =
        reinterpret_cast<uint4 *>(packed + static_cast<std::int64_t>(first) * record_fields);
    char *record = typed + (static_cast<std::int64_t>(first) + threadIdx.x) * record_extent;
    char *mine = bytes + threadIdx.x * record_fields;
    union {
        uint64_t word[2];
        char byte[16];
    } fields;
    if (!pack) {
        for (std::uint32_t i = threadIdx.x; i < stream / 16; i += threads) stage[i] = out[i];
        for (std::uint32_t i = stream / 16 * 16 + threadIdx.x; i < stream; i += threads)
            bytes[i] = packed[static_cast<std::int64_t>(first) * record_fields + i];
        __syncthreads();
    }
    if (threadIdx.x < count) {
        auto *words = reinterpret_cast<uint64_t *>(record);
        if (pack) {
            fields.word[0] = words[0];
            fields.word[1] = words[1];
#pragma unroll
            for (int i = 0; i < 16; ++i) mine[i] = fields.byte[i];
            mine[16] = record[16];
        } else {
#pragma unroll
            for (int i = 0; i < 16; ++i) fields.byte[i] = mine[i];
            words[0] = fields.word[0];
            words[1] = fields.word[1];
            record[16] = mine[16];
        }
    }
    if (pack) {
        __syncthreads();
        for (std::uint32_t i = threadIdx.x; i < stream / 16; i += threads) out[i] = stage[i];
        for (std::uint32_t i = stream / 16 * 16 + threadIdx.x; i < stream; i += threads)
            packed[static_cast<std::int64_t>(first) * record_fields + i] = bytes[i];
    }
}

// Tiles of a square matrix of doubles.
constexpr unsigned tile = 32;
template <bool pack>
__global__ void __launch_bounds__(threads) transpose_tiles(const double *in, double *out) {
    __shared__ double elements[tile][tile + 1];
    const unsigned x = blockIdx.x * tile + threadIdx.x % tile;
    const unsigned y = blockIdx.y * tile + threadIdx.x / tile;
#pragma unroll
    for (unsigned i = 0; i < tile; i += threads / tile)
        elements[threadIdx.x / tile + i][threadIdx.x % tile] =
            in[static_cast<std::int64_t>(y + i) * transpose_side + x];
    __syncthreads();
    const unsigned u = blockIdx.y * tile + threadIdx.x % tile;
    const unsigned v = blockIdx.x * tile + threadIdx.x / tile;
#pragma unroll
    for (unsigned i = 0; i < tile; i += threads / tile)
        out[static_cast<std::int64_t>(v + i) * transpose_side + u] =
            elements[threadIdx.x % tile][threadIdx.x / tile + i];
}

} // namespace

#define UCD_BENCH_NEST(name, width)                                                                \
    struct name##_shape {                                                                          \
        static constexpr auto nest = gpu::name;                                                    \
    };                                                                                             \
    std::span<const HandMove> name() {                                                             \
        return nest_kernels<width, name##_shape>();                                                \
    }
UCD_BENCH_NEST(vector_128_of_512, 16)
UCD_BENCH_NEST(vector_128_of_512_large, 16)
UCD_BENCH_NEST(vector_8_of_512, 8)
UCD_BENCH_NEST(vector_8_of_512_small, 8)
UCD_BENCH_NEST(vector_4_of_8, 4)
UCD_BENCH_NEST(vector_2_of_8, 2)
UCD_BENCH_NEST(every_second, 4)
UCD_BENCH_NEST(slab_xz, 16)
UCD_BENCH_NEST(slab_xz_of_32, 16)
UCD_BENCH_NEST(slab_yz, 16)
UCD_BENCH_NEST(cube, 16)
UCD_BENCH_NEST(hypercube, 16)
UCD_BENCH_NEST(nest_3, 8)
UCD_BENCH_NEST(nest_5, 8)

std::span<const HandMove> singles() {
    static const HandMove kernels[] = {
        words_kernel<8, 1, InList<8, 8>, gpu::singles * 8>("1 vector a thread"),
        words_kernel<8, 2, InList<8, 8>, gpu::singles * 8>("2 vectors a thread"),
        neighbours_kernel<8, InList<8, 8>, gpu::singles * 8>()};
    return kernels;
}

std::span<const HandMove> singles_small() {
    static const HandMove kernels[] = {words_kernel<8, 1, InList<8, 8>, mib>("1 vector a thread"),
                                       neighbours_kernel<8, InList<8, 8>, mib>()};
    return kernels;
}

std::span<const HandMove> lines_of_128() {
    static const HandMove kernels[] = {
        words_kernel<16, 1, InList<16, 128>, gpu::lines_of_128 * 128>("1 vector a thread"),
        words_kernel<16, 4, InList<16, 128>, gpu::lines_of_128 * 128>("4 vectors a thread")};
    return kernels;
}

template <std::int64_t count>
std::span<const HandMove> record_kernels() {
    constexpr auto blocks =
        static_cast<unsigned>((count + records_per_block - 1) / records_per_block);
    static const HandMove kernels[] = {
        words_kernel<1, 1, InRecords, count * record_fields / 16 * 16>("bytes"),
        neighbours_kernel<1, InRecords, count * record_fields / 16 * 16>(),
        {"through shared memory",
         [](const Lists &, char *typed, char *packed) {
             move_records<true, count><<<blocks, threads>>>(typed, packed);
         },
         [](const Lists &, char *typed, char *packed) {
             move_records<false, count><<<blocks, threads>>>(typed, packed);
         }}};
    return kernels;
}
std::span<const HandMove> records() {
    return record_kernels<gpu::records>();
}
std::span<const HandMove> records_of_16_mib() {
    return record_kernels<gpu::records_of_16_mib>();
}

template <std::int64_t side>
std::span<const HandMove> triangle_kernels() {
    constexpr std::int64_t bytes = side * (side + 1) / 2 * 8;
    using Place = InTriangle<side>;
    static const HandMove kernels[] = {words_kernel<8, 1, Place, bytes>("1 vector a thread"),
                                       words_kernel<8, 2, Place, bytes>("2 vectors a thread"),
                                       neighbours_kernel<8, Place, bytes>()};
    return kernels;
}
std::span<const HandMove> triangle() {
    return triangle_kernels<triangle_side>();
}
std::span<const HandMove> small_triangle() {
    return triangle_kernels<small_triangle_side>();
}

std::span<const HandMove> transpose() {
    static const HandMove kernels[] = {
        {"tiles of 32",
         [](const Lists &, char *typed, char *packed) {
             transpose_tiles<true><<<dim3(transpose_side / tile, transpose_side / tile), threads>>>(
                 reinterpret_cast<double *>(typed), reinterpret_cast<double *>(packed));
         },
         [](const Lists &, char *typed, char *packed) {
             transpose_tiles<false>
                 <<<dim3(transpose_side / tile, transpose_side / tile), threads>>>(
                     reinterpret_cast<double *>(packed), reinterpret_cast<double *>(typed));
         }}};
    return kernels;
}

} // namespace bench::gpu::hand
