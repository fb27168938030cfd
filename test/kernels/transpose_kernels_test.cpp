// Every transpose kernel, on random matrices, against a copy entry by entry; what lies between the
// entries must stay as it is.
#include "kernel_set.h"

#include "support/catch.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/rng.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace transpose_kernels_test {

using namespace ucd;
using namespace ucd::seq;
using ucdtest::Rng;

namespace {

std::vector<uint64_t> blocks_of(Leaf leaf) {
    std::vector<uint64_t> blocks;
    for (uint64_t bytes = 1; bytes < 64; ++bytes)
        if (leaf_for_block(bytes) == leaf) blocks.push_back(bytes);
    if (blocks.empty()) blocks = {1, 5, 63}; // any: right for every size
    return blocks;
}

// A matrix whose lines lie anywhere on either side, without overlap on the target.
struct Case {
    Matrix matrix{};
    std::vector<int64_t> from_lines, to_lines;
    std::size_t from_span, to_span;

    Case(Rng &rng, uint64_t block, uint64_t from_count, uint64_t to_count) {
        Matrix &m = matrix;
        m.block = block;
        m.from_count = from_count;
        m.to_count = to_count;
        const bool dense = rng.chance(70);
        const auto step = [&] {
            return static_cast<int64_t>(block + (dense || rng.chance(50) ? 0 : rng.below(70)));
        };
        m.from_step = step();
        m.to_step = step();
        from_span = lay_out(rng, from_lines, from_count, to_count, m.from_step);
        to_span = lay_out(rng, to_lines, to_count, from_count, m.to_step);
        m.from_lines = from_lines.data();
        m.to_lines = to_lines.data();
        m.past_caches = rng.chance(50);
        m.unaligned_past_caches = rng.chance(80);
        m.to_adjacent = adjacent(to_lines, from_count, m.from_step, m.to_step);
        m.from_adjacent = adjacent(from_lines, to_count, m.to_step, m.from_step);
    }

private:
    // Whether the kernels may take it that only the first line is listed.
    bool adjacent(const std::vector<int64_t> &lines, uint64_t entries, int64_t other_step,
                  int64_t step) const {
        const auto bytes = static_cast<int64_t>(matrix.block);
        bool all = entries <= max_interleaved && step == bytes && other_step == bytes &&
                   bytes <= 4 && bytes != 3 && lines.size() * matrix.block >= 16;
        for (std::size_t k = 1; k < lines.size(); ++k)
            all = all && lines[k] - lines[k - 1] == bytes * static_cast<int64_t>(entries);
        return all;
    }

    // Lines with gaps, at times at a round number of bytes, in any order.
    std::size_t lay_out(Rng &rng, std::vector<int64_t> &lines, uint64_t count, uint64_t entries,
                        int64_t step) const {
        const uint64_t bytes = (entries - 1) * static_cast<uint64_t>(step) + matrix.block;
        const uint64_t round = rng.chance(30) ? 2048 : rng.chance(50) ? 64 : 1;
        const uint64_t gap = rng.chance(30) ? 0 : rng.below(200);
        const uint64_t distance = (bytes + gap + round - 1) / round * round;
        for (uint64_t k = 0; k < count; ++k) lines.push_back(static_cast<int64_t>(k * distance));
        const uint64_t late = rng.chance(20) ? round * (1 + rng.below(3)) : 0;
        lines.back() += static_cast<int64_t>(late); // the only one that is out of step
        if (rng.chance(30))
            for (uint64_t k = count; k-- > 1;) std::swap(lines[k], lines[rng.below(k + 1)]);
        return (count - 1) * distance + bytes + late;
    }
};

std::vector<char> random_bytes(Rng &rng, std::size_t size) {
    std::vector<char> bytes(size);
    for (char &b : bytes) b = static_cast<char>(rng.bits());
    return bytes;
}

void check(const TransposeKernelInfo &kernel, Rng &rng, const Case &one) {
    Matrix m = one.matrix;
    constexpr std::size_t guard = 128;
    // Both sides at addresses of every kind, also such that fill whole cache lines.
    const auto shift = [&] { return rng.chance(50) ? 0 : rng.below(64); };
    std::vector<char> from = random_bytes(rng, one.from_span + 2 * guard + 64);
    std::vector<char> to = random_bytes(rng, one.to_span + 2 * guard + 64);
    const auto place = [&](const std::vector<char> &bytes) {
        const auto begin = reinterpret_cast<uintptr_t>(bytes.data()) + guard;
        return guard + (64 - begin % 64) % 64 - 64 + shift();
    };
    const std::size_t from_at = place(from), to_at = place(to);
    std::vector<char> expected = to;
    const std::vector<char> source = from;
    for (uint64_t f = 0; f < m.from_count; ++f)
        for (uint64_t t = 0; t < m.to_count; ++t)
            std::memcpy(expected.data() + to_at + static_cast<std::size_t>(m.to_lines[t]) +
                            f * static_cast<std::size_t>(m.to_step),
                        from.data() + from_at + static_cast<std::size_t>(m.from_lines[f]) +
                            t * static_cast<std::size_t>(m.from_step),
                        m.block);
    m.from = reinterpret_cast<uintptr_t>(from.data()) + from_at;
    m.to = reinterpret_cast<uintptr_t>(to.data()) + to_at;
    kernel.function(m);
    INFO(kernel.name() << ", " << m.from_count << " lines to " << m.to_count << ", block " << m.block
                     << ", steps " << m.from_step << " and " << m.to_step << ", past caches: "
                     << m.past_caches << ", even unaligned: " << m.unaligned_past_caches);
    CHECK(from == source);
    CHECK(to == expected);
}

} // namespace

TEST_CASE("every transpose kernel, on random matrices") {
    Rng rng(20261121);
    // At least one of each kind below.
    const int cases = std::max(static_cast<int>(24 * std::min(ucdtest::case_factor(), 1.0)), 9);
    for (const KernelSet *set : kernel_sets())
        for (const TransposeKernelInfo &kernel : set->transposes) {
            INFO(set->instructions);
            for (const uint64_t block : blocks_of(kernel.leaf))
                for (int i = 0; i < cases; ++i) {
                    const uint64_t most = i % 3 == 0 ? 20 : 150, few = i % 4 == 0 ? 5 : most;
                    check(kernel, rng, Case(rng, block, 1 + rng.below(few), 1 + rng.below(most)));
                    check(kernel, rng, Case(rng, block, 1 + rng.below(most), 1 + rng.below(few)));
                    // Long lines.
                    if (i % 8 == 0) check(kernel, rng, Case(rng, block, 900, 1 + rng.below(most)));
                }
        }
}

TEST_CASE("the transpose table finds each kernel, and the portable one for other leaves") {
    for (int i = 0; i < static_cast<int>(Leaf::count_); ++i) {
        const TransposeKernelInfo &kernel = transpose_kernel(static_cast<Leaf>(i));
        REQUIRE(kernel.function != nullptr);
        bool own = false;
        for (const TransposeKernelInfo &info : kernel_sets()[0]->transposes)
            if (info.leaf == static_cast<Leaf>(i)) {
                own = true;
                CHECK(&info == &kernel);
            }
        if (!own) CHECK(&kernel == &transpose_kernel(Leaf::m));
    }
}

} // namespace transpose_kernels_test
