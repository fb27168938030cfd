#include "launch/box_copy.h"

#include "launch/gpu_plan.h"
#include "runtime/check.h"
#include "runtime/plain_copy.h"
#include "tuning.h"

#include <algorithm>

namespace ucd::UCD_GPU {
namespace {

gpuPitchedPtr pitched(void *address, uint64_t pitch, uint64_t rows) {
    gpuPitchedPtr p{};
    p.ptr = address;
    p.pitch = pitch;
    p.xsize = pitch;
    p.ysize = rows;
    return p;
}

gpuError_t copy_planes(gpuStream_t stream, const Box &box, char *typed, char *packed, bool pack) {
    const gpuPitchedPtr there = pitched(typed, static_cast<uint64_t>(box.row_stride),
                                        static_cast<uint64_t>(box.plane_stride / box.row_stride));
    const gpuPitchedPtr here = pitched(packed, box.row, box.rows);
    gpuMemcpy3DParms copy{};
    copy.srcPtr = pack ? there : here;
    copy.dstPtr = pack ? here : there;
    copy.extent.width = box.row;
    copy.extent.height = box.rows;
    copy.extent.depth = box.planes;
    copy.kind = gpuMemcpyDefault;
    return gpuMemcpy3DAsync(&copy, stream);
}

gpuError_t copy_rows(gpuStream_t stream, const Box &box, char *typed, char *packed, bool pack) {
    const auto stride = static_cast<std::size_t>(box.row_stride);
    return gpuMemcpy2DAsync(pack ? packed : typed, pack ? box.row : stride, pack ? typed : packed,
                            pack ? stride : box.row, box.row, box.rows, gpuMemcpyDefault, stream);
}

} // namespace

bool is_faster_to_pinned(const Box &box, uintptr_t origin) {
    constexpr CopyEngineTuning engine = tuning.copy_engine;
    const uint64_t bits = box.row | static_cast<uint64_t>(box.row_stride) |
                          static_cast<uint64_t>(box.plane_stride) |
                          (origin + static_cast<uint64_t>(box.start));
    const uint64_t by_kernel = box.row * engine.kernel_per_byte;
    const uint64_t short_costs = by_kernel < engine.per_row ? engine.per_row - by_kernel : 0;
    const uint64_t odd_costs =
        bits % engine.row_alignment != 0 && box.row < engine.long_row ? engine.odd_row : 0;
    const uint64_t costs = std::max(short_costs, odd_costs);
    return costs == 0 || box.rows * box.planes <= engine.earlier / costs;
}

namespace {

bool list_boxes(const Job &job, std::size_t most, std::vector<Box> &boxes) {
    const LayoutPlan &plan = static_cast<const GpuPlan &>(*job.plan).host;
    const Node top = repeat(plan.layout.top(), plan.layout.root, job.count, plan.extent);
    return Boxes(plan.layout, boxes).list(top, job.offset, job.length, most);
}

} // namespace

bool is_one_box(const Job &job, Box &box) {
    // Where its blocks are, the host may not be able to read.
    if (static_cast<const GpuPlan &>(*job.plan).host.layout.has_reference()) return false;
    std::vector<Box> boxes;
    if (!list_boxes(job, 1, boxes)) return false;
    box = boxes.front();
    return true;
}

Status copy_boxes(gpuStream_t stream, std::span<const Job> jobs, bool captured) {
    std::vector<Box> boxes;
    std::vector<PlainCopy> plain;
    for (const Job &job : jobs) {
        (void)list_boxes(job, SIZE_MAX, boxes);
        const bool pack = job.direction == Direction::pack;
        char *packed = job.packed;
        for (const Box &box : boxes) {
            auto *const typed = reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(job.typed) +
                                                         static_cast<uintptr_t>(box.start));
            if (box.planes > 1)
                UCD_TRY(check(copy_planes(stream, box, typed, packed, pack), "copying"));
            else if (box.rows > 1)
                UCD_TRY(check(copy_rows(stream, box, typed, packed, pack), "copying"));
            else if (pack)
                plain.push_back({packed, typed, box.row});
            else
                plain.push_back({typed, packed, box.row});
            packed += box.bytes();
        }
    }
    if (plain.empty()) return success;
    return check(copy_plain(stream, plain, captured), "copying");
}

} // namespace ucd::UCD_GPU
