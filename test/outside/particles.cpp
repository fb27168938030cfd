// A program outside UCD: members of structs, by ucd.hpp.
#include <ucd.hpp>

#include <cstdio>
#include <vector>

struct Particle {
    double x;
    float mass;
    int id;
};

int main() {
    const ucd::Session session;
    const std::vector<Particle> particles{{1.5, 10, 1}, {2.5, 20, 2}};
    const ucd::Type type = ucd::struct_of(&Particle::id, &Particle::x);
    const std::vector<std::byte> packed = ucd::packed(particles.data(), 2, type);
    std::vector<Particle> back(2);
    ucd::unpack(packed, back.data(), back.size(), type);
    const auto refused = ucd::Type::contig<ucd::as_value>(-1, type);
    std::printf("%zu bytes: %d %g %g; refused: %d\n", packed.size(), back[1].id, back[1].x,
                static_cast<double>(back[1].mass), refused.code());
}
