#include "baselines/particles.hpp"

#include <cstring>

namespace bench {
namespace {

void pack(const FieldParts &parts, char *packed) {
    for (std::size_t i = 0; i < particle_fields.size(); ++i)
        std::memcpy(packed + parts.packed[i], parts.at[i], parts.bytes[i]);
}
void unpack(const FieldParts &parts, const char *packed) {
    for (std::size_t i = 0; i < particle_fields.size(); ++i)
        std::memcpy(parts.at[i], packed + parts.packed[i], parts.bytes[i]);
}

} // namespace

ParticleMoves host_particles() {
    return {pack, unpack};
}

} // namespace bench
