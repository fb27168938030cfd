// The particles of a cosmology code: an array for each property, and counters. Slices of the arrays
// go one after the other into a packed buffer.
#pragma once

#include <array>
#include <cstddef>

namespace bench {

// Of each property; the last has the same number of counters for any number of particles.
struct ParticleField {
    const char *name;
    std::size_t bytes;
};
inline constexpr std::array<ParticleField, 13> particle_fields{{{"x", 4},
                                                                {"y", 4},
                                                                {"z", 4},
                                                                {"vx", 4},
                                                                {"vy", 4},
                                                                {"vz", 4},
                                                                {"ax", 4},
                                                                {"ay", 4},
                                                                {"az", 4},
                                                                {"potential", 4},
                                                                {"identity", 8},
                                                                {"mask", 2},
                                                                {"counters", 8}}};
inline constexpr std::size_t counters_field = 12, counters = 4;

struct FieldParts {
    char *at[particle_fields.size()];
    std::size_t bytes[particle_fields.size()], packed[particle_fields.size()];
};

// A GPU's start a kernel in the null stream.
struct ParticleMoves {
    void (*pack)(const FieldParts &parts, char *packed);
    void (*unpack)(const FieldParts &parts, const char *packed);
};
ParticleMoves host_particles();
ParticleMoves gpu_particles();

} // namespace bench
