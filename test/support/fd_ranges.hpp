// Ranges of device memory that file descriptors identify, and what other processes do with them.
#pragma once

#include "support/catch.hpp"

#include "support/fake_device/fake_driver.h"
#include "support/fake_device/fake_pieces.h"
#include "support/fd_messages.hpp"

#include <ucd_memory.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace ucdtest {

inline constexpr std::size_t unit = mock::granularity;

inline std::string device(int number = 0) {
    return std::string(mock::backend.name) + ":" + std::to_string(number);
}

struct Pieces {
    std::vector<std::size_t> sizes;
    char *address;
    explicit Pieces(std::vector<std::size_t> of,
                    mock::Exportable exportable = mock::Exportable::yes)
        : sizes(std::move(of)),
          address(static_cast<char *>(mock::map_new_pieces(0, sizes, exportable))) {
        REQUIRE(address != nullptr);
    }
    ~Pieces() { unmap(); }
    Pieces(const Pieces &) = delete;
    Pieces &operator=(const Pieces &) = delete;
    void unmap() {
        std::size_t at = 0;
        for (const std::size_t bytes : sizes) {
            mock::unmap_piece(address + at);
            at += bytes;
        }
        sizes.clear();
    }
    std::size_t total() const {
        std::size_t sum = 0;
        for (const std::size_t bytes : sizes) sum += bytes;
        return sum;
    }
};

inline int query(const void *address, std::size_t bytes, ucd_ipc_handle_t &handle, int &count) {
    return ucd_ipc_export_fds(address, bytes, &handle, nullptr, &count);
}

inline bool same(const ucd_ipc_handle_t &one, const ucd_ipc_handle_t &other) {
    return std::memcmp(&one, &other, sizeof one) == 0;
}

// Every third of these many ints.
inline constexpr int ints = 3000;

inline char pattern(std::size_t i) {
    return static_cast<char>(i * 7 + i / 251);
}

inline std::vector<char> filled(std::size_t bytes) {
    std::vector<char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(i);
    return data;
}

inline ucd_type_t every_third() {
    ucd_type_t type = UCD_TYPE__NULL;
    REQUIRE(ucd_create_vector(ints, 1, 3, UCD_TYPE__INT, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    return type;
}
inline constexpr std::size_t extent = ((ints - 1) * 3 + 1) * sizeof(int);

// Complements every third int by kernels of the device: two moves through a strided type.
inline void complement(void *memory) {
    ucd_type_t type = every_third();
    std::vector<int> packed(ints);
    std::uintptr_t actual = 0;
    REQUIRE(ucd_pack(memory, 1, type, 0, packed.data(), ints * sizeof(int), &actual, UCD_INFO__NULL,
                     UCD_OP__REPLACE) == UCD_SUCCESS);
    for (int &value : packed) value = ~value;
    REQUIRE(ucd_unpack(packed.data(), ints * sizeof(int), memory, 1, type, 0, &actual,
                       UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
}

// Whether the first `extent` bytes of `data` are those of `before` with every third int
// complemented, and all others are the same.
inline bool is_complemented(const std::vector<char> &data, const std::vector<char> &before,
                            std::size_t start) {
    for (std::size_t i = 0; i < data.size(); ++i) {
        const bool changed = i >= start && i < start + extent && (i - start) / sizeof(int) % 3 == 0;
        if (data[i] != static_cast<char>(changed ? ~before[i] : before[i])) return false;
    }
    return true;
}

inline void *open_range(const SharedRange &range, std::uintptr_t &bytes) {
    void *address = nullptr;
    const int rc = ucd_ipc_open_fds(&range.handle, range.fds.data(), range.fds.count(),
                                    device().c_str(), &address, &bytes);
    INFO(ucd_last_error());
    REQUIRE(rc == UCD_SUCCESS);
    return address;
}

} // namespace ucdtest
