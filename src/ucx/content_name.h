// Names for bytes that nobody can give to other bytes: the first 16 bytes of their SHA-256.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ucd_ucx {

using Name = std::array<uint8_t, 16>;

std::array<uint8_t, 32> sha256(const void *data, std::size_t bytes);
Name name_of(const void *data, std::size_t bytes);

// Good numbers already.
struct HashOfName {
    std::size_t operator()(const Name &name) const {
        std::size_t hash;
        std::memcpy(&hash, name.data(), sizeof hash);
        return hash;
    }
};

} // namespace ucd_ucx
