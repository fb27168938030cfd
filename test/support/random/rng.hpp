// Random numbers that replay identically everywhere: the standard's distributions are not portable
// between libraries, so the few that the tests need are written out here over mt19937_64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace ucdtest {

class Rng {
public:
    explicit Rng(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t bits() { return engine_(); }

    // Uniform in [low, high], both ends included. The modulo's bias is irrelevant for tests.
    std::intptr_t between(std::intptr_t low, std::intptr_t high) {
        const auto width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
        const auto step = width == 0 ? bits() : bits() % width;
        return static_cast<std::intptr_t>(static_cast<std::uint64_t>(low) + step);
    }

    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(bits() % limit); }

    bool chance(unsigned percent) { return bits() % 100 < percent; }

    // In [0, limit], skewed to small values: uniform up to a cap that is now and then doubled.
    std::size_t mostly_small(std::size_t limit) {
        std::size_t cap = 4;
        while (cap < limit && chance(70)) cap *= 2;
        return below((cap < limit ? cap : limit) + 1);
    }

    template <class T>
    const T &pick(const std::vector<T> &values) {
        return values[below(values.size())];
    }

    template <class T>
    void shuffle(std::vector<T> &values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

private:
    std::mt19937_64 engine_;
};

// splitmix64's finaliser: neighbouring case numbers get unrelated seeds.
inline std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t value) {
    std::uint64_t z = seed + 0x9e3779b97f4a7c15u * (value + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

inline std::uint64_t mix_seed(std::uint64_t seed, std::string_view text) {
    for (const char c : text) seed = mix_seed(seed, static_cast<unsigned char>(c));
    return seed;
}

} // namespace ucdtest
