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

} // namespace bench::gpu
