// The interface by which libucd opens a backend in a shared object libucd_NAME.so. ucd_init loads
// it if it is installed. It is never unloaded, because plans may outlive everything else.
//
// Only plain data crosses (see backend.h), so the two may be built by different compilers with
// different C++ libraries. They must agree on the contract: on the structs and tables of this
// folder's headers, and on what their values mean. Within one version of the contract, a later UCD
// may only add
//   * functions at the end of the list of Backend. A libucd that has more of them than the plugin
//     answers NOT_SUPPORTED, or as after an exception (registry/plugin_table.h); one that has fewer
//     calls those that it knows.
//   * ops and elements in front of `count_`. A backend supports() none that it does not know.
//   * structs that only such functions take, at the end of crossing_structs.
#pragma once

#include "implement.h"

#include <ucd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace ucd {

// Raised with every other change of a struct, a table, or the meaning of a value that crosses. A
// test compares sizes, offsets and values with abi/plugin-contract.txt.
inline constexpr uint32_t contract_version = 3;

#define UCD_TEXT_OF(number) #number
#define UCD_VERSION_TEXT(major, minor, patch)                                                      \
    UCD_TEXT_OF(major) "." UCD_TEXT_OF(minor) "." UCD_TEXT_OF(patch)
inline constexpr const char *ucd_version =
    UCD_VERSION_TEXT(UCD_VERSION_MAJOR, UCD_VERSION_MINOR, UCD_VERSION_PATCH);
#undef UCD_VERSION_TEXT
#undef UCD_TEXT_OF

// UCD_DEVICE_PLAN__VERSION of ucd_device.h, which the contract does not include.
inline constexpr uint64_t device_plan_version = 1;

// A struct that crosses, and its size as one side has compiled it.
struct CrossingStruct {
    const char *name;
    uint64_t size;
};

inline constexpr std::array crossing_structs{
    CrossingStruct{"KernelPlanFunctions", sizeof(KernelPlanFunctions)},
    CrossingStruct{"EventFunctions", sizeof(EventFunctions)},
    CrossingStruct{"PreparedLaunchFunctions", sizeof(PreparedLaunchFunctions)},
    CrossingStruct{"MoveMakerFunctions", sizeof(MoveMakerFunctions)},
    CrossingStruct{"KeptFunctions", sizeof(KeptFunctions)},
    CrossingStruct{"LastError", sizeof(LastError)},
    CrossingStruct{"BackendState", sizeof(BackendState)},
    CrossingStruct{"NativeStream", sizeof(NativeStream)},
    CrossingStruct{"MemoryHandle", sizeof(MemoryHandle)},
    CrossingStruct{"FdHandle", sizeof(FdHandle)},
    CrossingStruct{"MemoryLocation", sizeof(MemoryLocation)},
    CrossingStruct{"Side", sizeof(Side)},
    CrossingStruct{"Move", sizeof(Move)},
    CrossingStruct{"MoveList", sizeof(MoveList)},
    CrossingStruct{"MoveAddresses", sizeof(MoveAddresses)},
    CrossingStruct{"Elements", sizeof(Elements)},
    CrossingStruct{"Layout", sizeof(Layout)},
    CrossingStruct{"Node", sizeof(Node)},
    CrossingStruct{"Table", sizeof(Table)},
    CrossingStruct{"IndexList", sizeof(IndexList)},
};

// libucd passes this to a plugin. The first two members are at the same place in every version of
// the contract; a plugin of another version reads nothing else.
struct PluginRequest {
    uint32_t struct_size;
    uint32_t contract; // contract_version of libucd
    const CrossingStruct *structs;
    uint64_t struct_count;
};

// A plugin returns this. The tables are those of all objects that the backend makes.
struct Plugin {
    uint32_t struct_size;
    uint32_t contract;
    const char *version; // of the UCD that it is a part of, for messages
    // If libucd has another one, it does not call device_plan().
    uint64_t device_plan_version;
    const BackendFunctions *backend;
    const KernelPlanFunctions *plan;
    const EventFunctions *event;
    const PreparedLaunchFunctions *prepared_launch;
    int (*create)(Backend **backend);
};

// The only symbol that a plugin exports. Returns null, and writes a sentence of at most `room`
// bytes to `reason`, if library and plugin do not fit together.
using OpenPlugin = const Plugin *(*)(const PluginRequest *request, char *reason, std::size_t room);
inline constexpr const char *plugin_symbol = "ucd_open_plugin";

// Whether the library that sent the request fits this plugin.
inline bool fits_plugin(const PluginRequest &request, char *reason, std::size_t room) {
    if (request.contract != contract_version) {
        std::snprintf(reason, room, "it has version %u of the plugin contract; libucd has %u",
                      contract_version, request.contract);
        return false;
    }
    if (request.struct_size != sizeof request) {
        std::snprintf(reason, room, "PluginRequest has %zu bytes in it, and %u in libucd",
                      sizeof request, request.struct_size);
        return false;
    }
    // The later of the two may know more.
    const std::size_t both = std::min<std::size_t>(request.struct_count, crossing_structs.size());
    for (std::size_t i = 0; i < both; ++i) {
        const CrossingStruct &own = crossing_structs[i], &other = request.structs[i];
        if (std::strcmp(own.name, other.name) == 0 && own.size == other.size) continue;
        std::snprintf(reason, room, "%s has %llu bytes in it; libucd has %s with %llu", own.name,
                      static_cast<unsigned long long>(own.size), other.name,
                      static_cast<unsigned long long>(other.size));
        return false;
    }
    return true;
}

// The answer of a plugin whose backend is a B, and makes kernel plans P, events E and prepared
// launches L.
template <class B, class P, class E, class L>
constexpr Plugin plugin_of() {
    return {
        .struct_size = sizeof(Plugin),
        .contract = contract_version,
        .version = ucd_version,
        .device_plan_version = device_plan_version,
        .backend = &B::table(),
        .plan = &P::table(),
        .event = &E::table(),
        .prepared_launch = &L::table(),
        .create =
            [](Backend **backend) {
                return guarded([&] {
                    *backend = make_owned<B>().release();
                    return success;
                });
            },
    };
}

} // namespace ucd

// Defines the plugin's entry, which answers with `plugin` (see plugin_of).
#define UCD_PLUGIN(plugin)                                                                         \
    extern "C" __attribute__((visibility("default"))) const ucd::Plugin *ucd_open_plugin(          \
        const ucd::PluginRequest *request, char *reason, std::size_t room) {                       \
        if (!ucd::fits_plugin(*request, reason, room)) return nullptr;                             \
        return &(plugin);                                                                          \
    }
