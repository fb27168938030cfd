#include "registry.h"

#include "plugin_loader.h"

namespace ucd {

#define UCD_BACKEND(name) Backend *create_##name##_backend();
#define UCD_PLUGIN_BACKEND(name)
#define UCD_ABSENT_BACKEND(name)
#include "registry.def"
#undef UCD_BACKEND
#undef UCD_PLUGIN_BACKEND
#undef UCD_ABSENT_BACKEND

namespace {

template <Backend *(*create)()>
std::unique_ptr<Backend> open_part(std::string &) {
    return std::unique_ptr<Backend>(create());
}

std::unique_ptr<Backend> open_absent(std::string &reason) {
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
#include "registry.def"
#undef UCD_BACKEND
#undef UCD_PLUGIN_BACKEND
#undef UCD_ABSENT_BACKEND
    };
    return entries;
}

} // namespace ucd
