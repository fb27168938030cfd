// The HIP backend for the programs whose devices are threads.
#include "support/host_vendor/capture.h"

#include "backend.h"
#include "launch/create_backend.h"

#include "support/fake_device/fake_driver.h"

namespace mock {
const BackendTraits backend = {.name = ucd::hip::vendor_name, .remembers = true};
}

ucd::Owner<ucd::Backend> ucd::hostgpu::make_backend() {
    return ucd::hip::create_backend();
}
