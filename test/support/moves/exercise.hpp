// Uses a type in all the ways that need no knowledge of it, whatever it is: for types made from
// bytes that nobody vouches for. Time and memory are bounded, however large the type says it is.
// Throws if the library contradicts itself.
#pragma once

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ucdtest {

namespace detail {

inline void must(bool holds, const char *what) {
    if (!holds) throw std::logic_error(std::string(what) + ": " + ucd_last_error());
}

// Frees at the end of its scope.
struct Handle {
    ucd_type_t type = UCD_TYPE__NULL;
    Handle() = default;
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle() {
        if (type != UCD_TYPE__NULL) ucd_free(&type);
    }
};

// Packs and unpacks up to `most` bytes from `offset` on, if the type touches little memory.
inline void move_some(ucd_type_t type, std::uintptr_t size, std::uintptr_t offset) {
    constexpr std::uintptr_t most = 4096;
    constexpr std::intptr_t max_memory = 65536;
    std::intptr_t low = 0, extent = 0;
    must(ucd_get_true_extent(type, &low, &extent) == UCD_SUCCESS, "ucd_get_true_extent");
    must(extent >= 0 && (size == 0 || extent > 0), "a true extent");
    if (extent > max_memory) return;
    std::vector<unsigned char> memory(static_cast<std::size_t>(extent) + 1), packed(most);
    void *buffer = reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(memory.data()) -
                                            static_cast<std::uintptr_t>(low));
    std::uintptr_t moved = 0;
    must(ucd_pack(buffer, 1, type, offset, packed.data(), most, &moved, UCD_INFO__NULL,
                  UCD_OP__REPLACE) == UCD_SUCCESS,
         "ucd_pack");
    must(moved == (size - offset < most ? size - offset : most), "packed bytes");
    must(ucd_unpack(packed.data(), moved, buffer, 1, type, offset, &moved, UCD_INFO__NULL,
                    UCD_OP__REPLACE) == UCD_SUCCESS,
         "ucd_unpack");
    const int rc =
        ucd_unpack(packed.data(), most, buffer, 1, type, 0, &moved, UCD_INFO__NULL, UCD_OP__SUM);
    must(rc == UCD_SUCCESS || rc == UCD_ERR__NOT_SUPPORTED, "ucd_unpack with SUM");
}

inline void list_some(ucd_type_t type) {
    std::uintptr_t segments = 0, listed = 0, bytes = 0;
    must(ucd_iov_len(1, type, &segments) == UCD_SUCCESS, "ucd_iov_len");
    struct iovec iov[8];
    must(ucd_iov(nullptr, 1, type, segments / 2, iov, 8, &listed) == UCD_SUCCESS, "ucd_iov");
    must(listed == (segments - segments / 2 < 8 ? segments - segments / 2 : 8), "listed segments");
    must(ucd_iov_len_max(1, type, 1000, &listed, &bytes) == UCD_SUCCESS, "ucd_iov_len_max");
    must(bytes <= 1000 && listed <= segments, "segments that fit");
}

// A few boxes and runs from the middle on: each begins where the one before ends.
inline void list_boxes_and_runs(ucd_type_t type, std::uintptr_t size) {
    std::uintptr_t total = 0, listed = 0, boundary = 0;
    must(ucd_get_boxes(1, type, 0, nullptr, 0, &listed, &total) == UCD_SUCCESS, "ucd_get_boxes");
    must((total == 0) == (size == 0), "the number of boxes");
    ucd_box_t boxes[8];
    must(ucd_get_boxes(1, type, total / 2, boxes, 8, &listed, &total) == UCD_SUCCESS,
         "ucd_get_boxes");
    must(listed == (total - total / 2 < 8 ? total - total / 2 : 8), "listed boxes");
    for (std::uintptr_t i = 0; i < listed; ++i) {
        std::uint64_t end = boxes[i].block;
        for (std::uint32_t k = 0; k < boxes[i].dims; ++k) end *= boxes[i].count[k];
        end += boxes[i].offset;
        must(i + 1 < listed ? end == boxes[i + 1].offset : listed == 8 || end == size,
             "the end of a box");
    }
    must(ucd_get_element_runs(1, type, 0, nullptr, 0, &listed, &total) == UCD_SUCCESS,
         "ucd_get_element_runs");
    must((total == 0) == (size == 0), "the number of runs");
    ucd_element_run_t runs[8];
    must(ucd_get_element_runs(1, type, total / 2, runs, 8, &listed, &total) == UCD_SUCCESS,
         "ucd_get_element_runs");
    must(listed == (total - total / 2 < 8 ? total - total / 2 : 8), "listed runs");
    for (std::uintptr_t i = 0; i < listed; ++i) {
        const std::uint64_t end = runs[i].offset + runs[i].elements * runs[i].element_bytes;
        must(i + 1 < listed ? end == runs[i + 1].offset : listed == 8 || end == size,
             "the end of a run");
        must(ucd_element_boundary(1, type, runs[i].offset, &boundary) == UCD_SUCCESS &&
                 boundary == runs[i].offset,
             "ucd_element_boundary");
    }
}

inline void build_some(ucd_type_t type) {
    // What is too large is refused; all else is a type.
    Handle twice, spread, pair;
    const std::intptr_t lengths[] = {1, 2}, displs[] = {-8, 1 << 20};
    const ucd_type_t types[] = {type, type};
    for (const int rc : {ucd_create_contig(3, type, UCD_INFO__NULL, &twice.type),
                         ucd_create_hvector(2, 2, -4096, type, UCD_INFO__NULL, &spread.type),
                         ucd_create_struct(2, lengths, displs, types, UCD_INFO__NULL, &pair.type)})
        must(rc == UCD_SUCCESS || rc == UCD_ERR__OVERFLOW, "a constructor");
    if (pair.type != UCD_TYPE__NULL) list_some(pair.type);
}

} // namespace detail

inline void exercise(ucd_type_t type, std::uint64_t variation = 0) {
    using namespace detail;
    std::uintptr_t size = 0, needed = 0;
    must(ucd_get_size(type, &size) == UCD_SUCCESS, "ucd_get_size");
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    must(ucd_get_layout(1, type, &layout) == UCD_SUCCESS, "ucd_get_layout");
    must(layout.bytes == size, "bytes of the layout");
    // Makes the plans, too.
    const int described = ucd_describe(type, nullptr, 0, &needed);
    must(described == UCD_SUCCESS && needed > 1, "ucd_describe");
    move_some(type, size, size == 0 ? 0 : variation % size);
    list_some(type);
    list_boxes_and_runs(type, size);
    build_some(type);

    std::uintptr_t flat = 0, size_of_copy = 0;
    must(ucd_flatten_size(type, &flat) == UCD_SUCCESS, "ucd_flatten_size");
    std::vector<unsigned char> bytes(flat);
    must(ucd_flatten(type, bytes.data(), flat) == UCD_SUCCESS, "ucd_flatten");
    Handle copy;
    must(ucd_unflatten(&copy.type, bytes.data(), flat) == UCD_SUCCESS, "ucd_unflatten");
    must(ucd_get_size(copy.type, &size_of_copy) == UCD_SUCCESS && size_of_copy == size, "the copy");
}

} // namespace ucdtest
