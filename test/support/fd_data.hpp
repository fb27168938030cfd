// Data in memory that processes share by file descriptors, and what one of them does to it.
#pragma once

#include "support/catch.hpp"
#include "support/keys.hpp"
#include "support/moves/move_now.hpp"

#include <ucd_memory.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace ucdtest {

inline int query(const void *address, std::size_t bytes, ucd_ipc_handle_t &handle, int &count) {
    return ucd_ipc_export_fds(address, bytes, &handle, nullptr, &count);
}

inline bool same(const ucd_ipc_handle_t &one, const ucd_ipc_handle_t &other) {
    return std::memcmp(&one, &other, sizeof one) == 0;
}

inline char pattern(std::size_t i) {
    return static_cast<char>(i * 7 + i / 251);
}

inline std::vector<char> filled(std::size_t bytes) {
    std::vector<char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(i);
    return data;
}

// Every third int, so many of them.
inline ucd_type_t every_third(int ints) {
    ucd_type_t type = UCD_TYPE__NULL;
    REQUIRE(ucd_create_vector(ints, 1, 3, UCD_TYPE__INT, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    return type;
}

inline constexpr std::size_t extent_of(int ints) {
    return (static_cast<std::size_t>(ints - 1) * 3 + 1) * sizeof(int);
}

// Complements every third int by kernels of the device: two moves through a strided type.
inline void complement(void *memory, int ints, const char *device = nullptr) {
    Keys in, out; // name the device, if there is one
    if (device != nullptr) {
        in.set("ucd.inbuf", device);
        out.set("ucd.outbuf", device);
    }
    ucd_type_t type = every_third(ints);
    std::vector<int> packed(static_cast<std::size_t>(ints));
    const std::uintptr_t bytes = packed.size() * sizeof(int);
    pack_now(memory, 1, type, 0, packed.data(), bytes, in.get());
    for (int &value : packed) value = ~value;
    unpack_now(packed.data(), bytes, memory, 1, type, 0, out.get());
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
}

// Whether the data is what was there before, with these ints complemented from `start` on, and all
// around them as it was.
inline bool is_complemented(const std::vector<char> &data, const std::vector<char> &before,
                            std::size_t start, int ints) {
    const std::size_t end = start + extent_of(ints);
    for (std::size_t i = 0; i < data.size(); ++i) {
        const bool changed = i >= start && i < end && (i - start) / sizeof(int) % 3 == 0;
        if (data[i] != static_cast<char>(changed ? ~before[i] : before[i])) return false;
    }
    return true;
}

} // namespace ucdtest
