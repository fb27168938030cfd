// The host vendor's backend, for programs with this one backend.
#include "support/host_vendor/capture.h"

#include "launch/create_backend.h"

#include "support/fake_device/fake_driver.h"

namespace mock {
const BackendTraits backend = {.name = ucd::hostgpu::vendor_name, .remembers = true};
}

ucd::Owner<ucd::Backend> ucd::hostgpu::make_backend() {
    return create_backend();
}
