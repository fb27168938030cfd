// A backend in a shared object libucd_NAME.so. ucd_init loads it if it is installed. It is never
// unloaded, because plans may outlive everything else.
#pragma once

#include "backend.h"
#include "contract_id.h" // UCD_CONTRACT_ID, a hash of these headers, made at build time

#include <ucd.h>

// C++ objects with virtual functions and containers pass between library and plugin. Both must
// therefore be compiled from the same contract, by compilers and standard libraries that agree on
// the layout of objects.
#define UCD_PLUGIN_STRING_(x) #x
#define UCD_PLUGIN_STRING(x) UCD_PLUGIN_STRING_(x)
#if defined(_LIBCPP_ABI_VERSION)
#define UCD_PLUGIN_LIBRARY "libc++ " UCD_PLUGIN_STRING(_LIBCPP_ABI_VERSION)
#elif defined(_GLIBCXX_USE_CXX11_ABI)
#define UCD_PLUGIN_LIBRARY                                                                         \
    "libstdc++ " UCD_PLUGIN_STRING(_GLIBCXX_USE_CXX11_ABI) UCD_PLUGIN_DEBUG_CONTAINERS
#else
#define UCD_PLUGIN_LIBRARY "another library"
#endif
#if defined(_GLIBCXX_DEBUG)
#define UCD_PLUGIN_DEBUG_CONTAINERS " debug"
#else
#define UCD_PLUGIN_DEBUG_CONTAINERS ""
#endif
#define UCD_PLUGIN_VERSION                                                                         \
    UCD_PLUGIN_STRING(UCD_VERSION_MAJOR)                                                           \
    "." UCD_PLUGIN_STRING(UCD_VERSION_MINOR) "." UCD_PLUGIN_STRING(                                \
        UCD_VERSION_PATCH) ", contract " UCD_CONTRACT_ID                                           \
                           ", C++ ABI " UCD_PLUGIN_STRING(                                         \
                               __GXX_ABI_VERSION) ", " UCD_PLUGIN_LIBRARY

namespace ucd {

struct Plugin {
    const char *version; // UCD_PLUGIN_VERSION
    // The only link from a plugin to libucd: a plugin needs no symbol of libucd. So libucd can be
    // unloaded, and when it is loaded again, it passes the new address of its error messages.
    std::unique_ptr<Backend> (*create)(LastErrorOfThread last_error);
};

// The only symbol that a plugin exports.
inline constexpr const char *plugin_symbol = "ucd_plugin";

} // namespace ucd

#if defined(UCD_IN_PLUGIN)
#define UCD_PLUGIN_LAST_ERROR(of_thread) ucd::last_error = of_thread
#else
#define UCD_PLUGIN_LAST_ERROR(of_thread) (void)of_thread
#endif

// `create` makes the backend. The plugin defines its virtual destructor.
#define UCD_PLUGIN(create)                                                                         \
    extern "C" __attribute__((visibility("default"))) const ucd::Plugin ucd_plugin;                \
    const ucd::Plugin ucd_plugin = {UCD_PLUGIN_VERSION, [](ucd::LastErrorOfThread of_thread) {     \
                                        UCD_PLUGIN_LAST_ERROR(of_thread);                          \
                                        return create();                                           \
                                    }};
