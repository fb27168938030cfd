// HIP's vendor header, and kernels as C++ for threads of the CPU. Included before anything else.
#pragma once

#include "vendor.h" // of src/backend/hip

#include "support/host_vendor/kernels.h"
