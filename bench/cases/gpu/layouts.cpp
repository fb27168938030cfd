#include "cases/gpu/layouts.hpp"

#include "baselines/gpu/kernels.hpp"

#include <random>

namespace bench::gpu {
namespace {

// One unit at a random place in every two to eight.
std::vector<std::int32_t> scattered(std::int64_t count) {
    std::mt19937_64 generator(20240607);
    std::vector<std::int32_t> list;
    std::int32_t at = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        list.push_back(at);
        at += 2 + static_cast<std::int32_t>(generator() >> 61);
    }
    // Neighbours in the stream need not be neighbours in memory, but mostly are.
    for (std::size_t i = 0; i + 7 < list.size(); i += 7) std::swap(list[i], list[i + 5]);
    return list;
}

Layout listed(std::string name, std::int64_t count, const RecipePtr &unit,
              std::span<const HandMove> hand) {
    std::vector<std::int32_t> list = scattered(count);
    RecipePtr type = recipe(IndexedBlock{1, Ints(list.begin(), list.end()), unit});
    return {.name = std::move(name),
            .type = std::move(type),
            .hand = hand,
            .lists = {std::move(list), {}}};
}

Layout runs(std::string name, std::int64_t count, std::span<const HandMove> hand) {
    std::mt19937_64 generator(20240607);
    Layout layout{.name = std::move(name), .type = nullptr, .hand = hand};
    Ints lengths, displs;
    std::int32_t at = 0;
    while (count > 0) {
        const auto length =
            std::min<std::int64_t>(1 + static_cast<std::int64_t>(generator() >> 62), count);
        lengths.push_back(length);
        displs.push_back(at);
        for (std::int64_t i = 0; i < length; ++i) layout.lists.displs.push_back(at++);
        at += 1 + static_cast<std::int32_t>(generator() >> 62);
        count -= length;
    }
    layout.type = recipe(Indexed{lengths, displs, doubles()});
    return layout;
}

} // namespace

std::vector<Layout> layouts() {
    return {
        {"contiguous, 1 GiB", recipe(Contig{1024 * mib / 8, doubles()})},
        nest_layout("vector 128 B of 512", vector_128_of_512, hand::vector_128_of_512()),
        nest_layout("vector 128 B of 512, 1 GiB", vector_128_of_512_large,
                    hand::vector_128_of_512_large()),
        nest_layout("vector 8 B of 512", vector_8_of_512, hand::vector_8_of_512()),
        nest_layout("vector 4 B of 8", vector_4_of_8, hand::vector_4_of_8()),
        nest_layout("vector 2 B of 8", vector_2_of_8, hand::vector_2_of_8()),
        nest_layout("every second of 256^3, 4 B", every_second, hand::every_second()),
        nest_layout("512^3, slab X-Z of 8", slab_xz, hand::slab_xz()),
        nest_layout("512^3, slab Y-Z of 8", slab_yz, hand::slab_yz()),
        nest_layout("128^3 of 512^3", cube, hand::cube()),
        nest_layout("4-D subarray 32^4 of 64^4", hypercube, hand::hypercube()),
        listed("indexed_block 8 B", singles, doubles(), hand::singles()),
        listed("indexed_block 128 B", lines_of_128, recipe(Contig{16, doubles()}),
               hand::lines_of_128()),
        runs("indexed, runs of 1-4 doubles, 1 MiB", mib / 8, hand::singles_small()),
        runs("indexed, runs of 1-4 doubles", singles, hand::singles()),
        {"struct {double; int; int; char}", records_of(records, record_extent), hand::records()},
        {"struct {double; int; int; char}, 16 MiB", records_of(records_of_16_mib, record_extent),
         hand::records_of_16_mib()},
        {"lower triangle, N=4096", lower_triangle(triangle_side), hand::triangle()},
        {"lower triangle, N=2048", lower_triangle(small_triangle_side), hand::small_triangle()},
        {"transpose, N=4096", transposed(transpose_side), hand::transpose()},
        nest_layout("hvector depth 3", nest_3, hand::nest_3()),
        nest_layout("hvector depth 5", nest_5, hand::nest_5()),
    };
}

Layout listed_blocks() {
    constexpr std::int64_t blocks = 1024, bytes = 16384;
    return listed("1024 blocks of 16 KiB, listed", blocks, recipe(Contig{bytes / 8, doubles()}),
                  {});
}

Layout small_layout() {
    return nest_layout("vector 8 B of 512, 1 KiB", vector_8_of_512_small,
                       hand::vector_8_of_512_small());
}

} // namespace bench::gpu
