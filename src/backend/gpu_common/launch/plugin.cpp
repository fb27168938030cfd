// The entry point of the backend as a plugin.
#include "plugin.h"
#include "launch/create_backend.h"

UCD_PLUGIN(ucd::UCD_GPU::as_plugin())
