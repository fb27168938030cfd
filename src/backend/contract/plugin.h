// A backend in a shared object of its own: libucd_NAME.so, which is loaded at ucd_init if it is
// there, and never unloaded, because plans may outlive everything else.
#pragma once

#include "backend.h"
#include "contract_id.h" // made at build time: UCD_CONTRACT_ID, of the contents of these headers

#include <ucd.h>

// C++ objects pass between the two, with virtual functions and containers. So both must have been
// compiled from one contract, and by compilers and standard libraries that lay out objects alike.
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
    // Nothing else links a plugin to libucd: it needs no symbol of libucd's, which so can be
    // unloaded, and is told anew where the sentences are when libucd is loaded again.
    std::unique_ptr<Backend> (*create)(LastErrorOfThread last_error);
};

// The name of the one symbol that a plugin exports.
inline constexpr const char *plugin_symbol = "ucd_plugin";

} // namespace ucd

#if defined(UCD_IN_PLUGIN)
#define UCD_PLUGIN_LAST_ERROR(of_thread) ucd::last_error = of_thread
#else
#define UCD_PLUGIN_LAST_ERROR(of_thread) (void)of_thread
#endif

// `create` makes the backend. Its virtual destructor is the plugin's own.
#define UCD_PLUGIN(create)                                                                         \
    extern "C" __attribute__((visibility("default"))) const ucd::Plugin ucd_plugin;                \
    const ucd::Plugin ucd_plugin = {UCD_PLUGIN_VERSION, [](ucd::LastErrorOfThread of_thread) {     \
                                        UCD_PLUGIN_LAST_ERROR(of_thread);                          \
                                        return create();                                           \
                                    }};
