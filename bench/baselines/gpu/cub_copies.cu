#include "vendor.hpp"

#include "baselines/gpu/copies.hpp"

#if __has_include(<cub/device/dispatch/dispatch_copy_mdspan.cuh>)

#include <cub/device/device_copy.cuh>

#include <cuda/std/mdspan>

#include <stdexcept>
#include <string>

namespace bench::gpu::hand {
namespace {

// A cube at the origin of a larger one.
template <class T>
auto cube_of(char *memory, int side, int of) {
    using Extents = cuda::std::dextents<int, 3>;
    using Layout = cuda::std::layout_stride;
    return cuda::std::mdspan<T, Extents, Layout>(
        reinterpret_cast<T *>(memory),
        Layout::mapping<Extents>(Extents(side, side, side),
                                 cuda::std::array<int, 3>{of * of, of, 1}));
}

template <class T, int side, int from_side, int to_side>
void copy_cube(char *from, char *to) {
    std::size_t bytes = 1; // of temporary memory, which is not used
    const auto error = cub::DeviceCopy::Copy(to, bytes, cube_of<T>(from, side, from_side),
                                             cube_of<T>(to, side, to_side));
    if (error != gpuSuccess)
        throw std::runtime_error(std::string("cub::DeviceCopy: ") + gpuGetErrorString(error));
}

} // namespace

CopyByHand cub_box_to_box() {
    return copy_cube<double, 128, 512, 256>;
}
CopyByHand cub_small_box_to_box() {
    return copy_cube<float, 64, 128, 96>;
}

} // namespace bench::gpu::hand

#else

namespace bench::gpu::hand {

CopyByHand cub_box_to_box() {
    return nullptr;
}
CopyByHand cub_small_box_to_box() {
    return nullptr;
}

} // namespace bench::gpu::hand

#endif
