#include "launch/launch_steps.h"

#include "params/types.h"
#include "runtime/check.h"

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

gpuError_t copy_planes(gpuStream_t stream, const PitchedStep &step) {
    const PitchedCopy &planes = step.copy;
    const gpuPitchedPtr there =
        pitched(step.typed, static_cast<uint64_t>(planes.row_stride),
                static_cast<uint64_t>(planes.plane_stride / planes.row_stride));
    const gpuPitchedPtr here = pitched(step.packed, planes.row, planes.rows);
    gpuMemcpy3DParms copy{};
    copy.srcPtr = step.pack ? there : here;
    copy.dstPtr = step.pack ? here : there;
    copy.extent.width = planes.row;
    copy.extent.height = planes.rows;
    copy.extent.depth = planes.planes;
    copy.kind = gpuMemcpyDefault;
    return gpuMemcpy3DAsync(&copy, stream);
}

gpuError_t copy_rows(gpuStream_t stream, const PitchedStep &step) {
    const PitchedCopy &rows = step.copy;
    const auto stride = static_cast<std::size_t>(rows.row_stride);
    return gpuMemcpy2DAsync(step.pack ? step.packed : step.typed, step.pack ? rows.row : stride,
                            step.pack ? step.typed : step.packed, step.pack ? stride : rows.row,
                            rows.row, rows.rows, gpuMemcpyDefault, stream);
}

} // namespace

Status run_kernel(gpuStream_t stream, const void *kernel, uint32_t blocks, void *params) {
    void *arguments[] = {params};
    return check(
        gpuLaunchKernel(kernel, dim3(blocks), dim3(gpu::threads_per_block), arguments, 0, stream),
        "launching a kernel");
}

Status run_pitched(gpuStream_t stream, const PitchedStep &step) {
    return check(step.copy.planes > 1 ? copy_planes(stream, step) : copy_rows(stream, step),
                 "copying");
}

Status run_plain(gpuStream_t stream, std::span<const PlainCopy> copies, bool captured) {
    return check(copy_plain(stream, copies, captured), "copying");
}

Status LaunchSteps::run(gpuStream_t stream, bool captured) const {
    for (const auto &step : steps_) {
        if (const auto *kernel = std::get_if<KernelStep>(&step)) {
            // The runtime only reads the parameters.
            UCD_TRY(run_kernel(stream, kernel->kernel, kernel->blocks,
                               const_cast<char *>(kernel->params.data())));
        } else if (const auto *rows = std::get_if<PitchedStep>(&step)) {
            UCD_TRY(run_pitched(stream, *rows));
        } else {
            UCD_TRY(run_plain(stream, std::get<PlainStep>(step), captured));
        }
    }
    return success;
}

} // namespace ucd::UCD_GPU
