#include "launch/launch_target.h"

#include "params/types.h"
#include "runtime/check.h"

#include <iterator>
#include <utility>

namespace ucd::UCD_GPU {
namespace {

gpuPitchedPtr pitched(const PitchedSide &side) {
    gpuPitchedPtr p{};
    p.ptr = side.first;
    p.pitch = static_cast<std::size_t>(side.row_stride);
    p.xsize = p.pitch;
    p.ysize = static_cast<std::size_t>(side.plane_stride / side.row_stride);
    return p;
}

gpuError_t copy_planes(gpuStream_t stream, const PitchedStep &step) {
    gpuMemcpy3DParms copy{};
    copy.srcPtr = pitched(step.from);
    copy.dstPtr = pitched(step.to);
    copy.extent.width = step.row;
    copy.extent.height = step.rows;
    copy.extent.depth = step.planes;
    copy.kind = gpuMemcpyDefault;
    return gpuMemcpy3DAsync(&copy, stream);
}

gpuError_t copy_rows(gpuStream_t stream, const PitchedStep &step) {
    return gpuMemcpy2DAsync(step.to.first, static_cast<std::size_t>(step.to.row_stride),
                            step.from.first, static_cast<std::size_t>(step.from.row_stride),
                            step.row, step.rows, gpuMemcpyDefault, stream);
}

// A part of the planes, or of the rows of the only plane.
PitchedStep part_of(const PitchedStep &step, uint64_t first, uint64_t count) {
    PitchedStep part = step;
    const bool planes = step.planes > 1;
    (planes ? part.planes : part.rows) = count;
    for (PitchedSide *side : {&part.from, &part.to})
        side->first +=
            static_cast<int64_t>(first) * (planes ? side->plane_stride : side->row_stride);
    return part;
}

// If the driver refuses it, as it may if the rows of a side are in several allocations, its halves
// are copied, and theirs.
gpuError_t copy_pitched(gpuStream_t stream, const PitchedStep &step) {
    if (step.planes == 1 && step.rows == 1) {
        const PlainCopy row{step.to.first, step.from.first, step.row};
        return copy_each(stream, {&row, 1});
    }
    const gpuError_t error = step.planes > 1 ? copy_planes(stream, step) : copy_rows(stream, step);
    if (error != gpuErrorInvalidValue) [[likely]]
        return error;
    (void)gpuGetLastError(); // clears it
    const uint64_t count = step.planes > 1 ? step.planes : step.rows, half = count / 2;
    const gpuError_t first = copy_pitched(stream, part_of(step, 0, half));
    return first == gpuSuccess ? copy_pitched(stream, part_of(step, half, count - half)) : first;
}

} // namespace

void LaunchNeeds::add(LaunchNeeds &&part) {
    lists.insert(lists.end(), std::move_iterator(part.lists.begin()),
                 std::move_iterator(part.lists.end()));
    batches.insert(batches.end(), std::move_iterator(part.batches.begin()),
                   std::move_iterator(part.batches.end()));
}

Status load_kernels(std::initializer_list<const void *> kernels) {
    gpuFuncAttributes attributes;
    for (const void *kernel : kernels)
        if (kernel != nullptr)
            UCD_TRY(check(gpuFuncGetAttributes(&attributes, kernel), "loading a kernel"));
    return success;
}

Status LaunchTarget::use(DeviceLists &lists, uint64_t &address) const {
    ListUse use;
    UCD_TRY(device_.lists().use(lists, device_, stream_, state_, address, use));
    needs_.lists.push_back(std::move(use));
    return success;
}

Status LaunchTarget::upload(BatchUse table, std::size_t bytes, uint64_t &address) {
    // Reserve the entry first, because nothing may fail after the upload was started.
    needs_.batches.reserve(needs_.batches.size() + 1);
    begin();
    UCD_TRY(check(gpuMemcpyAsync(table.memory(), table.pinned(), bytes, gpuMemcpyDefault, stream_),
                  "uploading a table"));
    address = reinterpret_cast<uintptr_t>(table.memory());
    needs_.batches.push_back(std::move(table));
    return success;
}

Status LaunchTarget::launch(const void *kernel, uint32_t blocks, void *params, std::size_t bytes) {
    if (is_recorded()) [[unlikely]]
        return record(kernel, blocks, params, bytes);
    begin();
    return check(
        gpuLaunchKernel(kernel, dim3(blocks), dim3(gpu::threads_per_block), &params, 0, stream_),
        "launching a kernel");
}

Status LaunchTarget::record(const void *kernel, uint32_t blocks, const void *params,
                            std::size_t bytes) {
    UCD_TRY(load_kernels({kernel}));
    const auto *const first = static_cast<const char *>(params);
    needs_.steps.emplace_back(KernelStep{kernel, blocks, {first, first + bytes}});
    return success;
}

Status LaunchTarget::copy(const PlainCopy &copy) {
    if (is_recorded()) return this->copy(std::span(&copy, 1));
    begin();
    return check(copy_each(stream_, {&copy, 1}), "copying");
}

Status LaunchTarget::copy(std::span<const PlainCopy> copies) {
    if (is_recorded()) {
        needs_.steps.emplace_back(PlainStep(copies.begin(), copies.end()));
        return success;
    }
    begin();
    return check(copy_plain(stream_, copies, is_captured()), "copying");
}

Status LaunchTarget::copy(const PitchedStep &step) {
    if (is_recorded()) {
        needs_.steps.emplace_back(step);
        return success;
    }
    begin();
    return check(copy_pitched(stream_, step), "copying");
}

Status LaunchTarget::run(std::span<const LaunchStep> steps) {
    for (const LaunchStep &step : steps) {
        if (const auto *kernel = std::get_if<KernelStep>(&step)) {
            // The runtime only reads the parameters.
            UCD_TRY(launch(kernel->kernel, kernel->blocks,
                           const_cast<char *>(kernel->params.data()), kernel->params.size()));
        } else if (const auto *rows = std::get_if<PitchedStep>(&step)) {
            UCD_TRY(copy(*rows));
        } else if (const auto *copies = std::get_if<PlainStep>(&step)) {
            UCD_TRY(copy(std::span(*copies)));
        }
    }
    return success;
}

} // namespace ucd::UCD_GPU
