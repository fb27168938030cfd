#include "cuda_section.hpp"

#include <stdexcept>

namespace bench {

unsigned run_cuda(Run &, const CudaOptions &) {
    throw std::runtime_error("this ucd-bench was built without CUDA");
}

} // namespace bench
