// Numbers that nobody can guess, whichever others of them he has seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ucd_ucx {

// From the machine's source of randomness, which may take ten microseconds and more for a word.
void fill_randomly(void *memory, std::size_t bytes);

// SipHash-2-4 of a message of 8 bytes: who does not know the key cannot tell it from a random
// number.
uint64_t siphash(const std::array<uint64_t, 2> &key, uint64_t message);

// Hashes of a counter, with a secret for the key.
class SecretNumbers {
public:
    SecretNumbers();
    uint64_t next() { return siphash(secret_, ++counter_); }

private:
    std::array<uint64_t, 2> secret_;
    uint64_t counter_ = 0;
};

} // namespace ucd_ucx
