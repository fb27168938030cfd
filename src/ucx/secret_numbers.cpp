#include "secret_numbers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

namespace ucd_ucx {

void fill_randomly(void *memory, std::size_t bytes) {
    std::random_device random;
    auto *to = static_cast<uint8_t *>(memory);
    while (bytes > 0) {
        const auto word = static_cast<uint32_t>(random());
        const std::size_t n = std::min(bytes, sizeof word);
        std::memcpy(to, &word, n);
        to += n;
        bytes -= n;
    }
}

uint64_t siphash(const std::array<uint64_t, 2> &key, uint64_t message) {
    uint64_t a = key[0] ^ 0x736f6d6570736575, b = key[1] ^ 0x646f72616e646f6d;
    uint64_t c = key[0] ^ 0x6c7967656e657261, d = key[1] ^ 0x7465646279746573;
    const auto mix = [&](int rounds) {
        for (; rounds > 0; --rounds) {
            a += b;
            c += d;
            b = std::rotl(b, 13) ^ a;
            d = std::rotl(d, 16) ^ c;
            a = std::rotl(a, 32) + d;
            c += b;
            d = std::rotl(d, 21) ^ a;
            b = std::rotl(b, 17) ^ c;
            c = std::rotl(c, 32);
        }
    };
    constexpr uint64_t length = uint64_t{sizeof message} << 56;
    for (const uint64_t word : {message, length}) {
        d ^= word;
        mix(2);
        a ^= word;
    }
    c ^= 0xff;
    mix(4);
    return a ^ b ^ c ^ d;
}

SecretNumbers::SecretNumbers() {
    fill_randomly(secret_.data(), sizeof secret_);
}

} // namespace ucd_ucx
