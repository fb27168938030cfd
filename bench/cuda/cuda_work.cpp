#include "cuda_work.hpp"

#include <utility>

namespace bench::gpu {

void synchronise() {
    check_cuda(cudaGetLastError(), "starting");
    check_cuda(cudaStreamSynchronize(nullptr), "waiting");
}

Work blocking(std::function<void()> start) {
    return repeated([start = std::move(start)] {
        start();
        synchronise();
    });
}

Work copy_work(char *to, const char *from, std::size_t bytes) {
    return blocking([=] {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr), "copying");
    });
}

Work box_work(const Nest<2> &box, char *laid_out, char *packed, bool pack) {
    cudaMemcpy3DParms parms{};
    const auto rows = static_cast<std::size_t>(box.levels[1].count);
    const auto width = static_cast<std::size_t>(box.block);
    const auto pitch = static_cast<std::size_t>(box.levels[1].stride);
    const std::size_t plane_rows =
        box.levels[0].count > 1 ? static_cast<std::size_t>(box.levels[0].stride) / pitch : rows;
    const cudaPitchedPtr outside{laid_out, pitch, width, plane_rows},
        inside{packed, width, width, rows};
    parms.srcPtr = pack ? outside : inside;
    parms.dstPtr = pack ? inside : outside;
    parms.extent = {width, rows, static_cast<std::size_t>(box.levels[0].count)};
    parms.kind = cudaMemcpyDefault;
    return blocking([=] { check_cuda(cudaMemcpy3DAsync(&parms, nullptr), "copying a box"); });
}

} // namespace bench::gpu
