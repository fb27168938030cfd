// Registers the backend when it is linked into libucd.
#include "launch/create_backend.h"

#define UCD_GPU_JOIN_(a, b, c) a##b##c
#define UCD_GPU_JOIN(a, b, c) UCD_GPU_JOIN_(a, b, c)

namespace ucd {

Owner<Backend> UCD_GPU_JOIN(create_, UCD_GPU, _backend)();
Owner<Backend> UCD_GPU_JOIN(create_, UCD_GPU, _backend)() {
    return UCD_GPU::create_backend();
}

} // namespace ucd
