// yaksa_unflatten: 8 bytes of its own in front of a flattened type. Its interface has no length, so
// the length inside is set right, as the checksum is.
#include "target.hpp"

#include <ucd-yaksa/yaksa.h>

#include <algorithm>
#include <stdexcept>
#include <string>

using namespace ucdtest;

namespace {

constexpr std::size_t own_header = 8, total_at = 8;

void must(bool holds, const char *what) {
    if (!holds) throw std::logic_error(std::string(what) + ": " + ucd_yaksa_last_error());
}

void use(yaksa_type_t type) {
    std::uintptr_t size = 0, flat = 0, segments = 0, listed = 0;
    std::intptr_t low = 0, extent = 0;
    must(yaksa_type_get_size(type, &size) == YAKSA_SUCCESS, "yaksa_type_get_size");
    must(yaksa_type_get_true_extent(type, &low, &extent) == YAKSA_SUCCESS,
         "yaksa_type_get_true_extent");
    must(yaksa_iov_len(1, type, &segments) == YAKSA_SUCCESS, "yaksa_iov_len");
    struct iovec iov[4];
    must(yaksa_iov(nullptr, 1, type, segments / 2, iov, 4, &listed) == YAKSA_SUCCESS, "yaksa_iov");
    must(yaksa_flatten_size(type, &flat) == YAKSA_SUCCESS, "yaksa_flatten_size");
    FlatBytes bytes(flat);
    must(yaksa_flatten(type, bytes.data()) == YAKSA_SUCCESS, "yaksa_flatten");
    yaksa_type_t twice = 0, pair = 0;
    must(yaksa_unflatten(&twice, bytes.data()) == YAKSA_SUCCESS,
         "yaksa_unflatten of its own bytes");
    if (yaksa_type_create_hvector(2, 1, 4096, type, nullptr, &pair) == YAKSA_SUCCESS)
        must(yaksa_type_free(pair) == YAKSA_SUCCESS, "yaksa_type_free");
    if (extent <= 65536) {
        FlatBytes memory(static_cast<std::size_t>(extent) + 1), packed(1024);
        void *const buffer = reinterpret_cast<void *>(
            reinterpret_cast<std::uintptr_t>(memory.data()) - static_cast<std::uintptr_t>(low));
        std::uintptr_t moved = 0;
        must(yaksa_pack(buffer, 1, type, 0, packed.data(), packed.size(), &moved, nullptr,
                        YAKSA_OP__REPLACE) == YAKSA_SUCCESS,
             "yaksa_pack");
        // Whole elements only.
        must(size <= packed.size() ? moved == size : moved <= packed.size(), "packed bytes");
    }
    must(yaksa_type_free(twice) == YAKSA_SUCCESS, "yaksa_type_free");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    fuzz::start_library();
    static const int started = yaksa_init(nullptr);
    must(started == YAKSA_SUCCESS, "yaksa_init");
    FlatBytes body(data, data + size), bytes{'U', 'C', 'D', 'Y', 1, 3, 0, 0};
    if (size < flat_header_bytes) return 0;
    seal(body);
    for (std::size_t i = 2; i < own_header; ++i) bytes[i] ^= data[total_at + i];
    bytes.insert(bytes.end(), body.begin(), body.end());
    yaksa_type_t type = 0;
    if (yaksa_unflatten(&type, bytes.data()) != YAKSA_SUCCESS) return 0;
    ++fuzz::accepted;
    use(type);
    must(yaksa_type_free(type) == YAKSA_SUCCESS, "yaksa_type_free");
    return 0;
}
