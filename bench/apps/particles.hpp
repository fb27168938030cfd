// The particles of a cosmology code: an array for each property, and counters.
#pragma once

#include "apps/place.hpp"
#include "ucd_peer.hpp"

#include <array>
#include <memory>
#include <vector>

namespace bench::apps {

// Of each property; the last has the same number of counters for any number of particles.
struct ParticleField {
    const char *name;
    std::size_t bytes;
};
constexpr std::array<ParticleField, 13> particle_fields{{{"x", 4},
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
constexpr std::size_t counters_field = 12, counters = 4;

// Parts of arrays that go one after the other into a packed buffer.
struct FieldParts {
    char *at[particle_fields.size()];
    std::size_t bytes[particle_fields.size()], packed[particle_fields.size()];
};

// By hand. With a GPU a kernel is started, in the null stream.
struct ParticleKernels {
    void (*pack)(const FieldParts &parts, char *packed);
    void (*unpack)(const FieldParts &parts, const char *packed);
};
ParticleKernels host_particles();
ParticleKernels cuda_particles();

class Particles {
public:
    Particles(Place &place, std::size_t count);

    const Memory &field(std::size_t i) const { return *fields_[i]; }
    // Particles [first, first + count), and all counters.
    FieldParts slice(std::size_t first, std::size_t count) const;

private:
    std::vector<std::unique_ptr<Memory>> fields_;
};

// With absolute displacements, for buffer NULL, or relative to the first field's part.
UcdType type_of(const FieldParts &parts, bool absolute);

} // namespace bench::apps
