#include "create_backend.h"

namespace ucd {

Backend *create_hostgpu_backend() {
    return hostgpu::create_backend();
}

} // namespace ucd
