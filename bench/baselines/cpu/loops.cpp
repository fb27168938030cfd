#include "baselines/cpu/loops.hpp"

#include "baselines/cpu/copy.hpp"
#include "baselines/cpu/nest.hpp"
#include "shapes/shapes.hpp"

#include <algorithm>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace bench::hand {
namespace {

using namespace shapes;

// Blocks of 8 bytes whose distance lets all of them meet in few places of the cache: were many
// stores under way at once, lines would be evicted before their store is done. So each waits for
// its line.
template <auto vector>
void unpack_line_by_line(const Lists &, char *__restrict typed, char *__restrict packed) {
    std::uint64_t none = 0;
    asm("" : "+r"(none));
    for (std::int64_t i = 0; i < vector.levels[0].count; ++i) {
        std::uint64_t value, before;
        copy<To::typed, 8>(reinterpret_cast<char *>(&value), packed + i * 8);
        char *const at = typed + i * vector.levels[0].stride;
        copy<To::packed, 8>(at, reinterpret_cast<char *>(&before));
        value |= before & none;
        copy<To::typed, 8>(at, reinterpret_cast<char *>(&value));
    }
}

template <To to>
void move_contiguous(const Lists &, char *typed, char *packed) {
    copy<to, contiguous_bytes>(typed, packed);
}

// Runs of 1 to 4 units.
template <std::int64_t unit, To to>
void move_runs(const Lists &lists, char *__restrict typed, char *__restrict packed) {
    const std::size_t runs = lists.count;
    const std::int32_t *const displs = lists.displs, *const lengths = lists.lengths;
    for (std::size_t r = 0; r < runs; ++r) {
        char *at = typed + displs[r] * unit;
        for (std::int32_t i = 0; i < lengths[r]; ++i, at += unit, packed += unit)
            copy<to, unit>(at, packed);
    }
}

// A branch on the length instead of a loop.
template <std::int64_t unit, To to>
void move_runs_by_case(const Lists &lists, char *__restrict typed, char *__restrict packed) {
    const std::size_t runs = lists.count;
    const std::int32_t *const displs = lists.displs, *const lengths = lists.lengths;
    for (std::size_t r = 0; r < runs; ++r) {
        char *const at = typed + displs[r] * unit;
        switch (lengths[r]) {
        case 1: copy<to, 1 * unit>(at, packed); break;
        case 2: copy<to, 2 * unit>(at, packed); break;
        case 3: copy<to, 3 * unit>(at, packed); break;
        case 4: copy<to, 4 * unit>(at, packed); break;
        default: __builtin_unreachable();
        }
        packed += lengths[r] * unit;
    }
}

#if defined(__AVX512VL__)

// Whatever the length, one masked access: nothing to mispredict.
template <To to>
void move_runs_of_8_masked(const Lists &lists, char *__restrict typed, char *__restrict packed) {
    const std::size_t runs = lists.count;
    const std::int32_t *const displs = lists.displs, *const lengths = lists.lengths;
    for (std::size_t r = 0; r < runs; ++r) {
        char *const at = typed + displs[r] * std::int64_t{8};
        const auto mask = static_cast<__mmask8>((1u << lengths[r]) - 1);
        if constexpr (to == To::packed)
            _mm256_mask_storeu_epi64(packed, mask, _mm256_maskz_loadu_epi64(mask, at));
        else
            _mm256_mask_storeu_epi64(at, mask, _mm256_maskz_loadu_epi64(mask, packed));
        packed += lengths[r] * std::int64_t{8};
    }
}

#endif

// Always four units: what is too much is overwritten by the next run. Not for the last ones, whose
// surplus would lie behind the end.
template <std::int64_t unit>
void pack_runs_with_surplus(const Lists &lists, char *__restrict typed, char *__restrict packed) {
    const std::size_t runs = lists.count, careful = std::min<std::size_t>(runs, 4);
    const std::int32_t *const displs = lists.displs, *const lengths = lists.lengths;
    for (std::size_t r = 0; r < runs - careful; ++r) {
        copy<To::packed, 4 * unit>(typed + displs[r] * unit, packed);
        packed += lengths[r] * unit;
    }
    for (std::size_t r = runs - careful; r < runs; ++r) {
        copy<To::packed>(typed + displs[r] * unit, packed, lengths[r] * unit);
        packed += lengths[r] * unit;
    }
}

template <To to>
void move_singles(const Lists &lists, char *__restrict typed, char *__restrict packed) {
    const std::int32_t *const displs = lists.displs;
    for (std::int64_t i = 0; i < singles; ++i)
        copy<to, 8>(typed + displs[i] * std::int64_t{8}, packed + i * 8);
}

struct Record {
    double a;
    std::int32_t b, c;
    char d;
};
static_assert(sizeof(Record) == record_extent);

// The double and both ints touch.
template <To to>
void move_records(const Lists &, char *__restrict typed, char *__restrict packed) {
    for (std::int64_t i = 0; i < shapes::records; ++i) {
        copy<to, 16>(typed + i * record_extent, packed + i * record_fields);
        copy<to, 1>(typed + i * record_extent + 16, packed + i * record_fields + 16);
    }
}

// Field by field.
template <To to>
void move_fields(const Lists &, char *__restrict typed, char *__restrict packed) {
    auto *record = reinterpret_cast<Record *>(typed);
    for (std::int64_t i = 0; i < shapes::records; ++i, ++record, packed += record_fields) {
        copy<to, 8>(reinterpret_cast<char *>(&record->a), packed);
        copy<to, 4>(reinterpret_cast<char *>(&record->b), packed + 8);
        copy<to, 4>(reinterpret_cast<char *>(&record->c), packed + 12);
        copy<to, 1>(&record->d, packed + 16);
    }
}

// The whole record in one go: its padding is overwritten by the next one.
void pack_records_with_surplus(const Lists &, char *__restrict typed, char *__restrict packed) {
    std::int64_t i = 0;
    for (; i < shapes::records - 1; ++i)
        copy<To::packed, record_extent>(typed + i * record_extent, packed + i * record_fields);
    copy<To::packed, record_fields>(typed + i * record_extent, packed + i * record_fields);
}

template <To to>
void move_triangle(const Lists &, char *__restrict typed, char *__restrict packed) {
    for (std::int64_t i = 0; i < triangle_side; ++i) {
        const std::int64_t row = (i + 1) * 8;
        copy<to>(typed + i * triangle_side * 8, packed, row);
        packed += row;
    }
}

template <To to>
void move_transposed(const Lists &, char *__restrict typed, char *__restrict packed) {
    constexpr std::int64_t n = transpose_side;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            copy<to, 8>(typed + (j * n + i) * 8, packed + (i * n + j) * 8);
}

// In tiles of a cache line each way. All loops go along the side that is written. Were a tile
// unrolled altogether, stores would alternate between lines that compete for one place in the
// cache.
template <To to>
void move_transposed_in_tiles(const Lists &, char *__restrict typed, char *__restrict packed) {
    constexpr std::int64_t n = transpose_side, tile = 8;
    static_assert(n % tile == 0);
    for (std::int64_t i = 0; i < n; i += tile)
        for (std::int64_t j = 0; j < n; j += tile)
#pragma GCC unroll 1
            for (std::int64_t a = i; a < i + tile; ++a)
                for (std::int64_t b = j; b < j + tile; ++b) {
                    const std::int64_t row = to == To::packed ? a : b;
                    const std::int64_t column = to == To::packed ? b : a;
                    copy<to, 8>(typed + (column * n + row) * 8, packed + (row * n + column) * 8);
                }
}

#if defined(__AVX2__)

// Four doubles of four rows, in registers.
[[gnu::always_inline]] inline void transpose_4x4(const char *from, char *to, std::int64_t stride) {
    __m256d row[4];
    for (int k = 0; k < 4; ++k)
        row[k] = _mm256_loadu_pd(reinterpret_cast<const double *>(from + k * stride));
    const __m256d even01 = _mm256_unpacklo_pd(row[0], row[1]);
    const __m256d odd01 = _mm256_unpackhi_pd(row[0], row[1]);
    const __m256d even23 = _mm256_unpacklo_pd(row[2], row[3]);
    const __m256d odd23 = _mm256_unpackhi_pd(row[2], row[3]);
    const __m256d column[] = {
        _mm256_permute2f128_pd(even01, even23, 0x20), _mm256_permute2f128_pd(odd01, odd23, 0x20),
        _mm256_permute2f128_pd(even01, even23, 0x31), _mm256_permute2f128_pd(odd01, odd23, 0x31)};
    for (int k = 0; k < 4; ++k)
        _mm256_storeu_pd(reinterpret_cast<double *>(to + k * stride), column[k]);
}

// Tiles of a cache line each way, a quarter at a time.
template <To to>
void move_transposed_in_registers(const Lists &, char *__restrict typed, char *__restrict packed) {
    constexpr std::int64_t n = transpose_side, tile = 8;
    char *const from = to == To::packed ? typed : packed;
    char *const into = to == To::packed ? packed : typed;
    for (std::int64_t i = 0; i < n; i += tile)
        for (std::int64_t j = 0; j < n; j += tile)
            for (std::int64_t a = i; a < i + tile; a += 4)
                for (std::int64_t b = j; b < j + tile; b += 4)
                    transpose_4x4(from + (b * n + a) * 8, into + (a * n + b) * 8, n * 8);
}

#endif

constexpr LayoutLoops table[] = {
    {"contiguous doubles", {{"memcpy", move_contiguous<To::packed>, move_contiguous<To::typed>}}},
    {"vector 8 B of 512",
     {nest_loop<vector_8_of_512>, {"line by line", nullptr, unpack_line_by_line<vector_8_of_512>}}},
    {"vector 8 B of 512, 16 MiB", {nest_loop<vector_8_of_512_large>}},
    {"vector 128 B of 512", {nest_loop<vector_128_of_512>}},
    {"vector 128 B of 512, 16 MiB", {nest_loop<vector_128_of_512_large>}},
    {"vector 4 B of 8", {nest_loop<vector_4_of_8>}},
    {"matrix column, N=2048", {nest_loop<matrix_column>}},
    {"256^3 doubles, face X-Z", {nest_loop<face_xz>}},
    {"256^3 doubles, face Y-Z", {nest_loop<face_yz>}},
    {"4-D subarray 16^4 of 64^4", {nest_loop<hypercube_16>}},
    {"4-D subarray 32^4 of 64^4", {nest_loop<hypercube_32>}},
    {"indexed, runs of 1-4 x 8 B",
     {{"loop", move_runs<8, To::packed>, move_runs<8, To::typed>},
      {"by case", move_runs_by_case<8, To::packed>, move_runs_by_case<8, To::typed>},
      {"with surplus", pack_runs_with_surplus<8>, nullptr},
#if defined(__AVX512VL__)
      {"masked", move_runs_of_8_masked<To::packed>, move_runs_of_8_masked<To::typed>}
#endif
     }},
    {"indexed, runs of 1-4 x 128 B",
     {{"loop", move_runs<128, To::packed>, move_runs<128, To::typed>},
      {"by case", move_runs_by_case<128, To::packed>, move_runs_by_case<128, To::typed>}}},
    {"indexed_block, single doubles",
     {{"loop", move_singles<To::packed>, move_singles<To::typed>}}},
    {"struct {double; int; int; char}",
     {{"loop", move_records<To::packed>, move_records<To::typed>},
      {"by field", move_fields<To::packed>, move_fields<To::typed>},
      {"with surplus", pack_records_with_surplus, nullptr}}},
    {"lower triangle, N=2000", {{"loop", move_triangle<To::packed>, move_triangle<To::typed>}}},
    {"transpose, N=1024",
     {{"loop", move_transposed<To::packed>, move_transposed<To::typed>},
      {"tiles of 8x8", move_transposed_in_tiles<To::packed>, move_transposed_in_tiles<To::typed>},
#if defined(__AVX2__)
      {"in registers", move_transposed_in_registers<To::packed>,
       move_transposed_in_registers<To::typed>}
#endif
     }},
    {"hvector nest, depth 4", {nest_loop<nest_4>}},
    {"hvector nest, depth 5", {nest_loop<nest_5>}},
    {"hvector nest, depth 5, 16 MiB", {nest_loop<nest_5_large>}},
    {"MILC su3 face", {nest_loop<milc_face>}},
    {"NAS LU y face, 40 B blocks", {nest_loop<nas_lu_face>}},
    {"contiguous, 8 doubles", {nest_loop<small_contiguous>}},
    {"vector of 8 doubles, stride 64 B", {nest_loop<small_vector>}},
};

} // namespace

std::span<const HandMove> loops_for(std::string_view layout) {
    return find_loops(table, layout);
}

} // namespace bench::hand
