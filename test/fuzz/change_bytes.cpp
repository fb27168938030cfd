// Changes that suit any input: bytes, numbers, parts left out, repeated, or of another input.
#include "inputs.hpp"

#include "target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ucdtest::fuzz {

void start_library() {
    static const int started = ucd_init(UCD_INFO__NULL);
    if (started == UCD_SUCCESS) return;
    std::fprintf(stderr, "%s\n", ucd_last_error());
    std::exit(2);
}

std::int64_t interesting(Rng &rng) {
    switch (rng.below(5)) {
    case 0: return rng.between(-2, 3);
    case 1: return std::int64_t{1} << rng.below(63);
    case 2: return -(std::int64_t{1} << rng.below(63));
    case 3: return rng.chance(50) ? INT64_MAX - rng.between(0, 9) : INT64_MIN + rng.between(0, 9);
    default: return rng.between(-1000, 1000);
    }
}

void change_bytes(Rng &rng, FlatBytes &bytes, const Corpus &corpus) {
    const std::size_t at = rng.below(bytes.size() + 1);
    const std::size_t length = std::min(rng.mostly_small(32), bytes.size() - at);
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = from + static_cast<std::ptrdiff_t>(length);
    switch (rng.below(6)) {
    case 0:
        for (std::size_t i = at; i < at + length; ++i)
            set_number(bytes, i, bytes[i] ^ 1u << rng.below(8), 1);
        return;
    case 1: set_number(bytes, at, rng.bits(), 1); return;
    case 2:
        set_number(bytes, at, static_cast<std::uint64_t>(interesting(rng)), 1u << rng.below(4));
        return;
    case 3: bytes.erase(from, to); return;
    case 4: {
        const FlatBytes again(from, to);
        bytes.insert(from, again.begin(), again.end());
        return;
    }
    default: {
        const FlatBytes &other = rng.pick(corpus);
        if (other.empty()) return;
        const std::size_t begin = rng.below(other.size());
        bytes.resize(at);
        bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(begin), other.end());
    }
    }
}

} // namespace ucdtest::fuzz
