// Numbers that nobody can guess, whichever others of them he has seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ucd_ucx {

// From the machine's source of randomness, which may take ten microseconds and more for a word.
void fill_randomly(void *memory, std::size_t bytes);

// Hashes of a secret and a counter.
class SecretNumbers {
public:
    SecretNumbers();
    uint64_t next();

private:
    struct Input {
        std::array<uint8_t, 32> secret;
        uint64_t counter = 0;
    } input_;
    std::array<uint64_t, 4> ready_ = {};
    std::size_t left_ = 0;
};

} // namespace ucd_ucx
