// The backend as a library of its own, which libucd loads if it is there.
#include "plugin.h"
#include "launch/create_backend.h"

UCD_PLUGIN(ucd::UCD_GPU::create_backend)
