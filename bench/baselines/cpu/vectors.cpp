#include "baselines/cpu/vectors.hpp"

#include "baselines/cpu/copy.hpp"

namespace bench::hand {
namespace {

template <To to, std::int64_t block>
void move_vector(char *typed, char *packed, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i)
        copy<to, block>(typed + i * stride, packed + i * block);
}

template <std::int64_t block>
constexpr VectorLoops loops_for = {block, move_vector<To::packed, block>,
                                   move_vector<To::typed, block>};

} // namespace

std::span<const VectorLoops> vectors() {
    static constexpr VectorLoops all[] = {
        loops_for<4>,   loops_for<8>,    loops_for<16>,  loops_for<17>,  loops_for<32>,
        loops_for<40>,  loops_for<64>,   loops_for<100>, loops_for<128>, loops_for<256>,
        loops_for<512>, loops_for<1024>, loops_for<4096>};
    return all;
}

} // namespace bench::hand
