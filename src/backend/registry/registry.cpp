#include "registry.h"

#include "plugin_loader.h"

// The build defines the list of backends besides seq, which is for host memory. A backend is linked
// into this library, or is a plugin, or is not built; one that is not built is still listed by
// name, so that messages about hints and ucd_backend_get can say so.
#ifndef UCD_DEVICE_BACKENDS
#error "UCD_DEVICE_BACKENDS is not set"
#endif
#define UCD_ALL_BACKENDS UCD_BACKEND(seq) UCD_DEVICE_BACKENDS

namespace ucd {

#define UCD_BACKEND(name) Owner<Backend> create_##name##_backend();
#define UCD_PLUGIN_BACKEND(name)
#define UCD_ABSENT_BACKEND(name)
UCD_ALL_BACKENDS
#undef UCD_BACKEND
#undef UCD_PLUGIN_BACKEND
#undef UCD_ABSENT_BACKEND

namespace {

template <Owner<Backend> (*create)()>
Owner<Backend> open_part(std::string &) {
    return create();
}

[[maybe_unused]] Owner<Backend> open_absent(std::string &reason) {
    reason = "this build of libucd does not have it";
    return nullptr;
}

} // namespace

std::span<const RegistryEntry> registry() {
    static constexpr RegistryEntry entries[] = {
#define UCD_BACKEND(name) {#name, open_part<create_##name##_backend>},
#define UCD_PLUGIN_BACKEND(name)                                                                   \
    {#name, [](std::string &reason) { return open_plugin(#name, reason); }},
#define UCD_ABSENT_BACKEND(name) {#name, open_absent},
        UCD_ALL_BACKENDS
#undef UCD_BACKEND
#undef UCD_PLUGIN_BACKEND
#undef UCD_ABSENT_BACKEND
    };
    return entries;
}

} // namespace ucd
