#include "registry.h"

namespace ucd {

#define UCD_BACKEND(name) Backend *create_##name##_backend();
#define UCD_ABSENT_BACKEND(name)
#include "registry.def"
#undef UCD_BACKEND
#undef UCD_ABSENT_BACKEND

std::span<const RegistryEntry> registry() {
    static constexpr RegistryEntry entries[] = {
#define UCD_BACKEND(name) {#name, create_##name##_backend},
#define UCD_ABSENT_BACKEND(name) {#name, nullptr},
#include "registry.def"
#undef UCD_BACKEND
#undef UCD_ABSENT_BACKEND
    };
    return entries;
}

} // namespace ucd
