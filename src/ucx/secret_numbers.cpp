#include "secret_numbers.h"

#include "content_name.h"

#include <algorithm>
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

SecretNumbers::SecretNumbers() {
    fill_randomly(input_.secret.data(), input_.secret.size());
}

uint64_t SecretNumbers::next() {
    if (left_ == 0) {
        const auto digest = sha256(&input_, sizeof input_);
        ++input_.counter;
        std::memcpy(ready_.data(), digest.data(), digest.size());
        left_ = ready_.size();
    }
    return ready_[--left_];
}

} // namespace ucd_ucx
