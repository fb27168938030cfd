#include "samples.hpp"

#include "contents.hpp"

namespace ucdfuzz {
namespace {

void require_made(int rc, const char *what) {
    if (rc != UCD_SUCCESS) found_fatal("setup", std::string(what) + ": " + ucd_last_error());
}

} // namespace

Samples::Samples() {
    add(UCD_TYPE__BYTE, false);
    add(UCD_TYPE__INT, true);
    ucd_type_t type;
    int rc = ucd_create_vector(5, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type);
    add_made(rc, type, true);
    rc = ucd_create_hvector(4, 2, -24, UCD_TYPE__INT, UCD_INFO__NULL, &type);
    add_made(rc, type, true);
    const std::intptr_t lengths[] = {1, 2, 3, 4}, displs[] = {3, 40, 11, 27};
    rc = ucd_create_indexed(4, lengths, displs, UCD_TYPE__INT, UCD_INFO__NULL, &type);
    add_made(rc, type, true);
    rc = ucd_create_indexed(4, lengths, displs, UCD_TYPE__BYTE, UCD_INFO__NULL, &type);
    add_made(rc, type, false);
    rc = ucd_create_contig(48, UCD_TYPE__BYTE, UCD_INFO__NULL, &type);
    add_made(rc, type, false);
    rc = ucd_create_hvector(7, 3, 8, UCD_TYPE__BYTE, UCD_INFO__NULL, &type);
    add_made(rc, type, false);
    rc = ucd_create_hvector(8, 1, 0, UCD_TYPE__INT, UCD_INFO__NULL, &type);
    add_made(rc, type, true, true);
    rc = ucd_create_hvector(16, 4, 2, UCD_TYPE__BYTE, UCD_INFO__NULL, &type);
    add_made(rc, type, false, true);
    rc = ucd_create_resized(UCD_TYPE__INT, 0, 0, UCD_INFO__NULL, &type);
    add_made(rc, type, true, true);
    for (const int levels : {3, 60, 480, 4000}) add_deep(levels);
}

// All but the longest fit a window.
void Samples::add_deep(int levels) {
    ucd_type_t type;
    require_made(ucd_create_dup(UCD_TYPE__BYTE, UCD_INFO__NULL, &type), "a deep sample");
    for (int i = 0; i < levels; ++i) {
        const std::intptr_t ones[] = {1, 1}, places[] = {0, 2 * i + 2};
        ucd_type_t types[] = {type, UCD_TYPE__BYTE};
        require_made(ucd_create_struct(2, ones, places, types, UCD_INFO__NULL, &type),
                     "a deep sample");
        (void)ucd_free(&types[0]);
    }
    made_.push_back(type);
    deep_.push_back(sample_of(type, false, false));
}

Samples::~Samples() {
    for (ucd_type_t type : made_) (void)ucd_free(&type);
}

Sample Samples::sample_of(ucd_type_t type, bool of_ints, bool overlaps) {
    std::uintptr_t size, bytes;
    require_made(ucd_get_size(type, &size), "ucd_get_size");
    require_made(ucd_flatten_size(type, &bytes), "ucd_flatten_size");
    std::string flat(bytes, '\0');
    require_made(ucd_flatten(type, flat.data(), bytes), "ucd_flatten");
    return {type, flat, size, of_ints, overlaps};
}

void Samples::add(ucd_type_t type, bool of_ints, bool overlaps) {
    samples_.push_back(sample_of(type, of_ints, overlaps));
}

void Samples::add_made(int rc, ucd_type_t type, bool of_ints, bool overlaps) {
    require_made(rc, "a sample");
    made_.push_back(type);
    add(type, of_ints, overlaps);
}

Layout layout_of(const Sample &sample, std::uintptr_t count) {
    ucd_layout_t layout = {};
    layout.struct_size = sizeof layout;
    if (count > 0) require_made(ucd_get_layout(count, sample.type, &layout), "ucd_get_layout");
    return {&sample, count, layout.bytes, layout.low, layout.high};
}

Layout Samples::draw(ucdtest::Rng &rng, std::uint64_t max_span, bool of_ints, bool hostile) const {
    for (;;) {
        const Sample &sample = rng.pick(samples_);
        if ((of_ints && !sample.of_ints) || (sample.overlaps && !hostile)) continue;
        const std::uint64_t most = max_span / sample.size;
        const std::uintptr_t count = 1 + (rng.chance(50) ? rng.below(3) : rng.below(most + 1));
        const Layout layout = layout_of(sample, count);
        if (layout.span() <= max_span) return layout;
    }
}

std::string pack(const unsigned char *buffer, const Layout &layout) {
    std::string stream(layout.bytes, '\0');
    std::uintptr_t packed = 0;
    if (layout.bytes > 0)
        require_made(ucd_pack(buffer, layout.count, layout.sample->type, 0, stream.data(),
                              stream.size(), &packed, UCD_INFO__NULL, UCD_OP__REPLACE),
                     "ucd_pack");
    return stream;
}

void unpack(const std::string &stream, unsigned char *buffer, const Layout &layout, ucd_op_t op) {
    std::uintptr_t moved = 0;
    if (layout.bytes > 0)
        require_made(ucd_unpack(stream.data(), stream.size(), buffer, layout.count,
                                layout.sample->type, 0, &moved, UCD_INFO__NULL, op),
                     "ucd_unpack");
}

} // namespace ucdfuzz
