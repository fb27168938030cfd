// The CUDA backend, as the registry asks for it.

#include "create_backend.h"

namespace ucd {

Backend *create_cuda_backend() {
    return cuda::create_backend();
}

} // namespace ucd
