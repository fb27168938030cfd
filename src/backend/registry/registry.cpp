#include "registry.h"

#include "plugin_loader.h"

// The backends of devices are plugins, in the order in which they are asked whose an address is.
// Opening them shows which of them are installed. Programs for tests define another list,
// with backends that are linked into them.
#ifndef UCD_DEVICE_BACKENDS
#define UCD_DEVICE_BACKENDS                                                                        \
    UCD_PLUGIN_BACKEND(cuda)                                                                       \
    UCD_PLUGIN_BACKEND(hip)                                                                        \
    UCD_PLUGIN_BACKEND(ze)
#endif
#define UCD_ALL_BACKENDS UCD_BACKEND(seq) UCD_DEVICE_BACKENDS

namespace ucd {

#define UCD_BACKEND(name) Owner<Backend> create_##name##_backend();
#define UCD_PLUGIN_BACKEND(name)
UCD_ALL_BACKENDS
#undef UCD_BACKEND
#undef UCD_PLUGIN_BACKEND

namespace {

template <Owner<Backend> (*create)()>
Owner<Backend> open_part(std::string &) {
    return create();
}

} // namespace

std::span<const RegistryEntry> registry() {
    static constexpr RegistryEntry entries[] = {
#define UCD_BACKEND(name) {#name, open_part<create_##name##_backend>},
#define UCD_PLUGIN_BACKEND(name)                                                                   \
    {#name, [](std::string &reason) { return open_plugin(#name, reason); }},
        UCD_ALL_BACKENDS
#undef UCD_BACKEND
#undef UCD_PLUGIN_BACKEND
    };
    return entries;
}

} // namespace ucd
