// A backend in a shared object of its own: libucd_NAME.so, which is loaded at ucd_init if it is there,
// and never unloaded, because plans may outlive everything else.
#pragma once

#include "backend.h"

#include <ucd.h>

// Both are of one build: what passes between them are C++ objects.
#define UCD_PLUGIN_STRING_(x) #x
#define UCD_PLUGIN_STRING(x) UCD_PLUGIN_STRING_(x)
#define UCD_PLUGIN_VERSION                                                                         \
    UCD_PLUGIN_STRING(UCD_VERSION_MAJOR)                                                           \
    "." UCD_PLUGIN_STRING(UCD_VERSION_MINOR) "." UCD_PLUGIN_STRING(UCD_VERSION_PATCH)

namespace ucd {

struct Plugin {
    const char *version; // UCD_PLUGIN_VERSION
    Backend *(*create)();
};

// The name of the one symbol that a plugin exports.
inline constexpr const char *plugin_symbol = "ucd_plugin";

} // namespace ucd

#define UCD_PLUGIN(backend)                                                                        \
    extern "C" __attribute__((visibility("default"))) const ucd::Plugin ucd_plugin;                \
    const ucd::Plugin ucd_plugin = {UCD_PLUGIN_VERSION,                                            \
                                    []() -> ucd::Backend * { return backend; }};
