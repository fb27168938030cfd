#include "cuda_section.hpp"

#include <stdexcept>

namespace bench {

void run_cuda(Run &) {
    throw std::runtime_error("this ucd-bench was built without CUDA");
}

} // namespace bench
