// Types that operations and receives use.
#pragma once

#include "support/random/rng.hpp"

#include <string>
#include <ucd.h>
#include <vector>

namespace ucdfuzz {

struct Sample {
    ucd_type_t type = UCD_TYPE__NULL;
    std::string flat;
    std::uint64_t size = 0;
    bool of_ints = false;  // all of it
    bool overlaps = false; // itself: nothing may be received by it
};

// So many of one of them; bytes are in [low, high) of the buffer's address.
struct Layout {
    const Sample *sample = nullptr;
    std::uintptr_t count = 0;
    std::uint64_t bytes = 0;
    std::int64_t low = 0, high = 0;

    std::uint64_t span() const { return static_cast<std::uint64_t>(high - low); }
};

class Samples {
public:
    Samples();
    ~Samples();
    Samples(const Samples &) = delete;
    Samples &operator=(const Samples &) = delete;
    const std::vector<Sample> &all() const { return samples_; }

    // One that stays where it is, however often it comes.
    const Sample &of_extent_0() const { return samples_.back(); }
    // Flattened types of a level within a level, so many times; their bytes lie apart. Only hostile
    // peers have them.
    const std::vector<Sample> &deep() const { return deep_; }
    // That spans at most so many bytes. Without `hostile`, elements do not overlap.
    Layout draw(ucdtest::Rng &rng, std::uint64_t max_span, bool of_ints, bool hostile) const;

private:
    static Sample sample_of(ucd_type_t type, bool of_ints, bool overlaps);
    void add(ucd_type_t type, bool of_ints, bool overlaps = false);
    void add_deep(int levels);
    void add_made(int rc, ucd_type_t type, bool of_ints, bool overlaps = false);
    std::vector<Sample> samples_, deep_;
    std::vector<ucd_type_t> made_;
};
Layout layout_of(const Sample &sample, std::uintptr_t count);

// By libucd itself, on the host.
std::string pack(const unsigned char *buffer, const Layout &layout);
void unpack(const std::string &stream, unsigned char *buffer, const Layout &layout,
            ucd_op_t op = UCD_OP__REPLACE);

} // namespace ucdfuzz
