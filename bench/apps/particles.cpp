#include "apps/particles.hpp"

#include <cstring>

namespace bench::apps {
namespace {

void pack(const FieldParts &parts, char *packed) {
    for (std::size_t i = 0; i < particle_fields.size(); ++i)
        std::memcpy(packed + parts.packed[i], parts.at[i], parts.bytes[i]);
}
void unpack(const FieldParts &parts, const char *packed) {
    for (std::size_t i = 0; i < particle_fields.size(); ++i)
        std::memcpy(parts.at[i], packed + parts.packed[i], parts.bytes[i]);
}

ucd_type_t element(std::size_t bytes) {
    return bytes == 8 ? UCD_TYPE__INT64_T : bytes == 4 ? UCD_TYPE__FLOAT : UCD_TYPE__UINT16_T;
}

} // namespace

ParticleKernels host_particles() {
    return {pack, unpack};
}

Particles::Particles(Place &place, std::size_t count) {
    for (std::size_t i = 0; i < particle_fields.size(); ++i)
        fields_.push_back(std::make_unique<Memory>(
            place, particle_fields[i].bytes * (i == counters_field ? counters : count)));
}

FieldParts Particles::slice(std::size_t first, std::size_t count) const {
    FieldParts parts{};
    std::size_t packed = 0;
    for (std::size_t i = 0; i < particle_fields.size(); ++i) {
        const bool counts = i == counters_field;
        parts.at[i] = fields_[i]->data() + (counts ? 0 : first * particle_fields[i].bytes);
        parts.bytes[i] = (counts ? counters : count) * particle_fields[i].bytes;
        parts.packed[i] = packed;
        packed += parts.bytes[i];
    }
    return parts;
}

UcdType type_of(const FieldParts &parts, bool absolute) {
    std::intptr_t lengths[particle_fields.size()], places[particle_fields.size()];
    ucd_type_t types[particle_fields.size()];
    const std::intptr_t origin = absolute ? 0 : reinterpret_cast<std::intptr_t>(parts.at[0]);
    for (std::size_t i = 0; i < particle_fields.size(); ++i) {
        lengths[i] = static_cast<std::intptr_t>(parts.bytes[i] / particle_fields[i].bytes);
        places[i] = reinterpret_cast<std::intptr_t>(parts.at[i]) - origin;
        types[i] = element(particle_fields[i].bytes);
    }
    ucd_type_t type;
    check_ucd(
        ucd_create_struct(particle_fields.size(), lengths, places, types, UCD_INFO__NULL, &type));
    return UcdType(type);
}

} // namespace bench::apps
