// Small moves, with what they are expected to do.
#pragma once

#include "support/catch.hpp"
#include "support/keys.hpp"

#include <ucd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace zetest {

using Bytes = std::vector<unsigned char>;

inline void check_ucd(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
}

inline Bytes some_bytes(std::size_t count, std::size_t seed) {
    Bytes bytes(count);
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<unsigned char>((i * 7 + seed) ^ (i >> 5));
    return bytes;
}

// Consecutive bytes, between any two memories.
inline void copy(void *to, const void *from, std::size_t bytes) {
    uintptr_t moved = 0;
    check_ucd(
        ucd_pack(from, bytes, UCD_TYPE__BYTE, 0, to, bytes, &moved, nullptr, UCD_OP__REPLACE));
    REQUIRE(moved == bytes);
}

inline Bytes read(const void *from, std::size_t bytes) {
    Bytes there(bytes);
    copy(there.data(), from, bytes);
    return there;
}

// An info with one key.
struct Hint : ucdtest::Keys {
    Hint(const char *key, const char *value) : Keys({{key, value}}) {}
};

// Blocks of `block` bytes at every third place for one.
struct Thirds {
    std::size_t count, block;
    ucd_type_t type = nullptr;

    explicit Thirds(std::size_t number, std::size_t bytes = 1) : count(number), block(bytes) {
        check_ucd(ucd_create_hvector(static_cast<intptr_t>(count), static_cast<intptr_t>(block),
                                     static_cast<intptr_t>(3 * block), UCD_TYPE__BYTE, nullptr,
                                     &type));
    }
    ~Thirds() { (void)ucd_free(&type); }
    Thirds(const Thirds &) = delete;
    Thirds &operator=(const Thirds &) = delete;

    std::size_t packed_bytes() const { return count * block; }
    std::size_t typed_bytes() const { return 3 * packed_bytes(); }
    Bytes packed(const Bytes &typed) const {
        Bytes expected;
        for (std::size_t i = 0; i < count; ++i)
            expected.insert(expected.end(), typed.begin() + static_cast<long>(3 * i * block),
                            typed.begin() + static_cast<long>((3 * i + 1) * block));
        return expected;
    }
    int pack(const void *typed, void *to, ucd_info_t info = nullptr) const {
        uintptr_t moved = 0;
        const int rc =
            ucd_pack(typed, 1, type, 0, to, packed_bytes(), &moved, info, UCD_OP__REPLACE);
        if (rc == UCD_SUCCESS) REQUIRE(moved == packed_bytes());
        return rc;
    }
    int pack_stream(const void *typed, void *to, const ucd_stream_t &stream,
                    ucd_info_t info = nullptr) const {
        uintptr_t moved = 0;
        return ucd_pack_stream(typed, 1, type, 0, to, packed_bytes(), &moved, info, UCD_OP__REPLACE,
                               stream);
    }
};

// Whether the last failure says this.
inline bool says(const char *part) {
    return std::string(ucd_last_error()).find(part) != std::string::npos;
}

} // namespace zetest
