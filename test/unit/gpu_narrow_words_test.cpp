// Vectors of narrow words by the loop that other vendors' devices take: four words at a time.
#include "kernels/nest_kernel.h"
#include "plan/make_divisor.h"

#include "unit/gpu_members.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace gpu_narrow_words_test {

using namespace ucd;
using namespace ucd::hostgpu;
using namespace ucdtest;

namespace {

template <Direction direction, unsigned width>
void move_narrow_words() {
    constexpr unsigned vectors = 3, words = vectors * vector_bytes / width;
    const std::size_t stride = 3 * width, row = 64;
    NestParams params{};
    // Four words in a row.
    params.level[0] = {make_divisor(4), static_cast<int32_t>(row / width)};
    params.level[1] = {make_divisor(1), 3};
    Rng rng(3);
    DeviceBytes typed(row * words / 4), packed((vectors + 2) * vector_bytes);
    typed.fill(rng);
    packed.fill(rng);
    params.typed = reinterpret_cast<std::uintptr_t>(typed.at(0));
    params.packed = reinterpret_cast<std::uintptr_t>(packed.at(vector_bytes));
    std::vector<char> typed_bytes = typed.get(), packed_bytes = packed.get();
    for (unsigned i = 0; i < words; ++i) {
        char *const a = &typed_bytes[i / 4 * row + i % 4 * stride];
        char *const b = &packed_bytes[vector_bytes + i * width];
        direction == Direction::pack ? std::memcpy(b, a, width) : std::memcpy(a, b, width);
    }
    for (unsigned vector = 0; vector < vectors; ++vector)
        move_narrow_vector<direction, width, LevelKind::strided, LevelKind::strided>(params,
                                                                                     vector);
    CHECK(typed.get() == typed_bytes);
    CHECK(packed.get() == packed_bytes);
}

} // namespace

// This vendor's devices find all words of a vector at once.
TEST_CASE("vectors of narrow words, four words at a time") {
    move_narrow_words<Direction::pack, 1>();
    move_narrow_words<Direction::unpack, 1>();
    move_narrow_words<Direction::pack, 2>();
    move_narrow_words<Direction::unpack, 2>();
}

} // namespace gpu_narrow_words_test
