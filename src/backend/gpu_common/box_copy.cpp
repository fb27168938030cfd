#include "box_copy.h"

#include "check.h"

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

gpuError_t copy_planes(gpuStream_t stream, const Box &box, char *laid_out, char *packed,
                       bool pack) {
    const gpuPitchedPtr there = pitched(laid_out, static_cast<uint64_t>(box.row_stride),
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

gpuError_t copy_rows(gpuStream_t stream, const Box &box, char *laid_out, char *packed, bool pack) {
    const auto stride = static_cast<std::size_t>(box.row_stride);
    return gpuMemcpy2DAsync(pack ? packed : laid_out, pack ? box.row : stride,
                            pack ? laid_out : packed, pack ? stride : box.row, box.row, box.rows,
                            gpuMemcpyDefault, stream);
}

} // namespace

// On an H200, a copy starts 2.2 us earlier than a kernel, and takes 1.45 ns for each row where a
// kernel takes 0.02 ns for each byte.
bool is_faster_to_pinned(const Box &box) {
    constexpr uint64_t earlier = 220'000, per_row = 145, kernel_per_byte = 2; // units of 10 ps
    if (box.row * kernel_per_byte >= per_row) return true;
    return box.rows * box.planes <= earlier / (per_row - box.row * kernel_per_byte);
}

Status copy_box(gpuStream_t stream, const Box &box, uintptr_t origin, char *packed,
                Direction direction) {
    auto *const laid_out = reinterpret_cast<char *>(origin + static_cast<uintptr_t>(box.start));
    const bool pack = direction == Direction::pack;
    const auto start = [&] {
        if (box.planes > 1) return copy_planes(stream, box, laid_out, packed, pack);
        if (box.rows > 1) return copy_rows(stream, box, laid_out, packed, pack);
        return gpuMemcpyAsync(pack ? packed : laid_out, pack ? laid_out : packed, box.row,
                              gpuMemcpyDefault, stream);
    };
    return check(start(), "copying");
}

} // namespace ucd::UCD_GPU
