#include "cases/gpu/batch_cases.hpp"

#include <fmt/core.h>

#include <random>

namespace bench::gpu {
namespace {

// A part of a block of cells, in cells.
struct Part {
    std::int32_t first[3], count[3];
};

std::vector<Part> halo_parts(std::int32_t inner, std::int32_t ghost) {
    std::vector<Part> parts;
    for (int x = -1; x <= 1; ++x)
        for (int y = -1; y <= 1; ++y)
            for (int z = -1; z <= 1; ++z) {
                if (x == 0 && y == 0 && z == 0) continue;
                Part p{};
                const int way[] = {x, y, z};
                for (int d = 0; d < 3; ++d) {
                    p.count[d] = way[d] == 0 ? inner : ghost;
                    p.first[d] = way[d] == 1 ? inner : ghost;
                }
                parts.push_back(p);
                if (x * x + y * y + z * z != 1) continue;
                for (int quarter = 0; quarter < 4; ++quarter) {
                    Part q = p;
                    for (int d = 0, bit = 0; d < 3; ++d) {
                        if (way[d] != 0) continue;
                        q.count[d] = inner / 2;
                        q.first[d] += (quarter >> bit++ & 1) * inner / 2;
                    }
                    parts.push_back(q);
                }
            }
    return parts;
}

constexpr std::size_t page_count = 100'000, max_page = 16384, pool = std::size_t{1} << 30;

// Random pages of the pool, of any of the sizes.
GpuBatchCase pages_with(std::string name, const std::vector<std::int32_t> &sizes) {
    GpuBatchCase c{{std::move(name)}, hand::pack_pages, false};
    for (const std::int32_t size : sizes) c.batch.types.push_back(box_type(size, 1, size, 1, size));
    std::mt19937_64 random(11);
    for (std::size_t i = 0; i < page_count; ++i) {
        const std::size_t type = random() % sizes.size();
        const std::size_t at = random() % (pool / max_page) * max_page;
        c.batch.members.push_back({static_cast<std::int64_t>(at), 0, 0, sizes[type], 1, 1, type});
    }
    return c;
}

} // namespace

GpuBatchCase vectors() {
    GpuBatchCase c{{"256 vectors of 4 KiB"}, hand::pack_rows_of_64};
    std::int64_t at = 0;
    for (std::int32_t i = 0; i < 256; ++i) {
        const std::int64_t stride = 128 + 16 * i;
        c.batch.members.push_back({at, stride, 0, 64, 64, 1, c.batch.types.size()});
        c.batch.types.push_back(box_type(64, 64, stride, 1, 0));
        at += 64 * stride;
    }
    return c;
}

GpuBatchCase sums() {
    GpuBatchCase c = vectors();
    c.batch.name = "256 sums of 4 KiB";
    c.batch.op = UCD_OP__SUM;
    c.by_hand = hand::add_rows_of_64;
    return c;
}

GpuBatchCase halos() {
    constexpr std::int32_t inner = 16, ghost = 2, side = inner + 2 * ghost, blocks = 64;
    constexpr std::int64_t row_stride = side * 8, plane_stride = side * row_stride;
    GpuBatchCase c{{fmt::format("halos of {} blocks of {}^3", blocks, inner)},
                   hand::pack_boxes_of_doubles};
    const std::vector<Part> parts = halo_parts(inner, ghost);
    for (const Part &p : parts)
        c.batch.types.push_back(
            box_type(p.count[2] * 8, p.count[1], row_stride, p.count[0], plane_stride));
    for (std::int32_t block = 0; block < blocks; ++block)
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Part &p = parts[i];
            c.batch.members.push_back({(block * side + p.first[0]) * plane_stride +
                                           p.first[1] * row_stride + p.first[2] * 8,
                                       row_stride, plane_stride, p.count[2] * 8, p.count[1],
                                       p.count[0], i});
        }
    return c;
}

GpuBatchCase pages() {
    std::vector<std::int32_t> sizes;
    for (std::int32_t size = 256; size <= static_cast<std::int32_t>(max_page); size += 256)
        sizes.push_back(size);
    return pages_with("100,000 pages of 256 B to 16 KiB", sizes);
}

GpuBatchCase pages_of(std::int32_t bytes) {
    return pages_with(fmt::format("100,000 pages of {} B", bytes), {bytes});
}

} // namespace bench::gpu
