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

Work box_work(const Nest<2> &box, char *laid_out, char *packed, bool pack, Level boxes) {
    const auto rows = static_cast<std::size_t>(box.levels[1].count);
    const auto width = static_cast<std::size_t>(box.block);
    const auto pitch = static_cast<std::size_t>(box.levels[1].stride);
    const std::size_t plane_rows =
        box.levels[0].count > 1 ? static_cast<std::size_t>(box.levels[0].stride) / pitch : rows;
    return blocking([=] {
        for (std::int64_t i = 0; i < boxes.count; ++i) {
            const cudaPitchedPtr outside{laid_out + i * boxes.stride, pitch, width, plane_rows},
                inside{packed + i * box.bytes(), width, width, rows};
            cudaMemcpy3DParms parms{};
            parms.srcPtr = pack ? outside : inside;
            parms.dstPtr = pack ? inside : outside;
            parms.extent = {width, rows, static_cast<std::size_t>(box.levels[0].count)};
            parms.kind = cudaMemcpyDefault;
            check_cuda(cudaMemcpy3DAsync(&parms, nullptr), "copying a box");
        }
    });
}

} // namespace bench::gpu
