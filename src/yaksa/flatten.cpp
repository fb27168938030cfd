// Flattened types: a header with the traits that libucd does not know, followed by the bytes of
// ucd_flatten.
#include "failure.h"
#include "life_cycle.h"
#include "type.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace ucd_yaksa {
namespace {

struct Header {
    char magic[4];
    std::uint8_t version;
    std::uint8_t alignment_bits; // the alignment is 1 << alignment_bits
    std::uint8_t has_pairs;
    std::uint8_t reserved; // 0
};
static_assert(sizeof(Header) == 8);

constexpr char magic[4] = {'U', 'C', 'D', 'Y'};
constexpr std::uint8_t newest_version = 1;
constexpr std::uint8_t max_alignment_bits = 12; // more than any C type needs
constexpr std::uintptr_t readable_header = 16;  // number of bytes that ucd_flattened_size reads

int flatten(const Type &type, std::byte *out) {
    std::uintptr_t bytes = 0;
    UCD_TRY(from_ucd(ucd_flatten_size(type.layout, &bytes)));
    Header header = {{}, newest_version, 0, type.traits.has_pairs, 0};
    std::memcpy(header.magic, magic, sizeof magic);
    header.alignment_bits = static_cast<std::uint8_t>(
        std::countr_zero(static_cast<std::uint64_t>(type.traits.alignment)));
    UCD_TRY(from_ucd(ucd_flatten(type.layout, out + sizeof header, bytes)));
    std::memcpy(out, &header, sizeof header);
    return YAKSA_SUCCESS;
}

int check(const Header &header) {
    if (std::memcmp(header.magic, magic, sizeof magic) != 0)
        return fail(YAKSA_ERR__INTERNAL, "no flattened type begins so");
    if (header.version > newest_version)
        return fail(YAKSA_ERR__NOT_SUPPORTED, "the format has version %u; this library knows %u",
                    header.version, newest_version);
    if (header.version == 0 || header.alignment_bits > max_alignment_bits || header.has_pairs > 1 ||
        header.reserved != 0)
        return fail(YAKSA_ERR__INTERNAL, "the flattened type's header is corrupt");
    return YAKSA_SUCCESS;
}

int unflatten(const std::byte *flattened, yaksa_type_t *newtype) {
    Header header;
    std::memcpy(&header, flattened, sizeof header);
    UCD_TRY(check(header));
    const std::byte *const body = flattened + sizeof header;
    std::uintptr_t bytes = 0;
    UCD_TRY(from_ucd(ucd_flattened_size(body, readable_header, &bytes)));
    LibucdType layout;
    UCD_TRY(from_ucd(ucd_unflatten(layout.out(), body, bytes)));
    ucd_element_run_t run;
    std::uintptr_t got = 0, runs = 0;
    UCD_TRY(from_ucd(ucd_get_element_runs(1, layout.get(), 0, &run, 1, &got, &runs)));
    const Traits traits = {new_identity(), runs == 1 ? run.element_bytes : 0,
                           std::intptr_t{1} << header.alignment_bits, header.has_pairs != 0};
    return add_type(std::move(layout), traits, newtype);
}

} // namespace
} // namespace ucd_yaksa

using namespace ucd_yaksa;

int yaksa_flatten_size(yaksa_type_t type, uintptr_t *flattened_type_size) {
    return guarded(__func__, [&] {
        if (flattened_type_size == nullptr)
            return fail(YAKSA_ERR__INTERNAL, "flattened_type_size is NULL; it must not be");
        const Type *known = nullptr;
        UCD_TRY(find_type(type, known));
        std::uintptr_t bytes = 0;
        UCD_TRY(from_ucd(ucd_flatten_size(known->layout, &bytes)));
        *flattened_type_size = sizeof(Header) + bytes;
        return YAKSA_SUCCESS;
    });
}

int yaksa_flatten(yaksa_type_t type, void *flattened_type) {
    return guarded(__func__, [&] {
        if (flattened_type == nullptr)
            return fail(YAKSA_ERR__INTERNAL, "flattened_type is NULL; it must not be");
        const Type *known = nullptr;
        UCD_TRY(find_type(type, known));
        return flatten(*known, static_cast<std::byte *>(flattened_type));
    });
}

int yaksa_unflatten(yaksa_type_t *type, const void *flattened_type) {
    return guarded(__func__, [&] {
        if (type == nullptr || flattened_type == nullptr)
            return fail(YAKSA_ERR__INTERNAL, "an argument is NULL; it must not be");
        if (!is_initialized()) return fail(YAKSA_ERR__INTERNAL, "yaksa_init was not called");
        return unflatten(static_cast<const std::byte *>(flattened_type), type);
    });
}
