// The CUDA backend as a library of its own, which libucd loads if it is there.

#include "create_backend.h"
#include "plugin.h"

UCD_PLUGIN(ucd::cuda::create_backend())
