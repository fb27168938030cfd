#include "preload/external.h"

#include "preload/repetition.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace ucd_mpi {
namespace {

constexpr std::size_t max_element = 64;

std::uint8_t reversed(std::uint8_t word) {
    return word;
}
std::uint16_t reversed(std::uint16_t word) {
    return __builtin_bswap16(word);
}
std::uint32_t reversed(std::uint32_t word) {
    return __builtin_bswap32(word);
}
std::uint64_t reversed(std::uint64_t word) {
    return __builtin_bswap64(word);
}

template <class Word>
void reverse_each(std::byte *to, const std::byte *from, std::uintptr_t bytes) {
    for (std::uintptr_t at = 0; at < bytes; at += sizeof(Word)) {
        Word word;
        std::memcpy(&word, from + at, sizeof word);
        word = reversed(word);
        std::memcpy(to + at, &word, sizeof word);
    }
}

void reverse_each(std::byte *to, const std::byte *from, std::uintptr_t bytes,
                  std::uintptr_t width) {
    switch (width) {
    case 1: reverse_each<std::uint8_t>(to, from, bytes); break;
    case 2: reverse_each<std::uint16_t>(to, from, bytes); break;
    case 4: reverse_each<std::uint32_t>(to, from, bytes); break;
    default: reverse_each<std::uint64_t>(to, from, bytes);
    }
}

// The width of the words whose bytes MPI reverses in an element, both when packing and when
// unpacking; 0 if the conversion is not such a reversal.
std::uintptr_t width_of(MPI_Datatype element) {
    using Bytes = std::array<std::byte, max_element>;
    MPI_Count size = 0;
    if (PMPI_Type_size_x(element, &size) != MPI_SUCCESS || size <= 0 ||
        size > static_cast<MPI_Count>(max_element))
        return 0;
    const auto bytes = static_cast<std::uintptr_t>(size);
    Bytes native{}, external{}, back{}, expected{};
    for (std::uintptr_t i = 0; i < bytes; ++i) native[i] = static_cast<std::byte>(i + 1);
    MPI_Aint packed = 0, unpacked = 0;
    if (PMPI_Pack_external("external32", native.data(), 1, element, external.data(), max_element,
                           &packed) != MPI_SUCCESS ||
        packed != static_cast<MPI_Aint>(bytes) ||
        PMPI_Unpack_external("external32", external.data(), packed, &unpacked, back.data(), 1,
                             element) != MPI_SUCCESS ||
        back != native)
        return 0;
    for (const std::uintptr_t width : {1, 2, 4, 8}) {
        if (bytes % width != 0) continue;
        reverse_each(expected.data(), native.data(), bytes, width);
        if (std::equal(expected.begin(), expected.begin() + size, external.begin())) return width;
    }
    return 0;
}

} // namespace

bool ExternalForm::find(const Converted &converted) {
    std::vector<std::uintptr_t> widths;
    for (const Leaf &leaf : converted.leaves) {
        widths.push_back(width_of(leaf.datatype));
        if (widths.back() == 0) return false;
    }
    if (widths.empty()) return false;
    if (std::ranges::all_of(widths, [&](std::uintptr_t width) { return width == widths[0]; })) {
        parts_ = {{UINTPTR_MAX, widths[0]}};
        return true;
    }
    Repetition repetition;
    if (!find_repetition(converted.type, repetition)) return false;
    for (const ucd_element_run_t &run : repetition.runs) {
        std::uintptr_t width = 0;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (converted.leaves[i].element != run.element) continue;
            if (width != 0 && width != widths[i]) return false;
            width = widths[i];
        }
        if (width == 0) return false;
        parts_.push_back({run.elements * run.element_bytes, width});
    }
    return true;
}

void ExternalForm::convert(void *to, const void *from, std::uintptr_t bytes) const {
    auto *out = static_cast<std::byte *>(to);
    const auto *in = static_cast<const std::byte *>(from);
    while (bytes > 0) {
        for (const RunOfWords &part : parts_) {
            const std::uintptr_t now = std::min(bytes, part.bytes);
            reverse_each(out, in, now, part.width);
            out += now;
            in += now;
            bytes -= now;
        }
    }
}

} // namespace ucd_mpi
