// The ways to move long rows of small blocks, each by itself: which of them a processor takes
// depends on its maker and on its caches.
#define UCD_SEQ_INSTRUCTIONS as_compiled_here
#include "long_rows.h"

#include "support/catch.hpp"
#include "support/random/rng.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace long_rows_test {

#if defined(__SSE2__)

using namespace ucdtest;

namespace {

namespace compiled = ucd::seq::as_compiled_here;
using ucd::Direction;

constexpr std::size_t guard = 64;

// Moves rows of all kinds by `move` (address, stride, count, packed), which says how many blocks it
// has moved.
template <class Leaf, class Move>
void check(const char *way, Move move) {
    constexpr std::size_t width = Leaf::width;
    Rng rng(width);
    for (const std::size_t count : {64, 65, 71, 100, 127, 200}) {
        for (const std::ptrdiff_t stride : {17, 64, 1024, -40}) {
            const std::size_t apart = static_cast<std::size_t>(stride < 0 ? -stride : stride);
            std::vector<char> typed(guard + apart * count + guard);
            // Packed blocks are at multiples of their width, since some ways need that.
            alignas(64) static char packed[guard + 200 * 16 + guard];
            for (char &c : typed) c = static_cast<char>(rng.bits());
            for (char &c : packed) c = static_cast<char>(rng.bits());
            const std::size_t first = stride < 0 ? guard + apart * (count - 1) : guard;
            const std::size_t start = guard - rng.below(4) * width;
            std::vector<char> wanted_typed = typed;
            std::vector<char> wanted_packed(std::begin(packed), std::end(packed));
            const uint64_t moved = move(reinterpret_cast<uintptr_t>(typed.data() + first),
                                        static_cast<uintptr_t>(stride), count, packed + start);
            INFO(way << ": " << count << " blocks of " << width << " bytes, " << stride
                     << " bytes apart");
            CHECK(moved <= count);
            CHECK(moved + 8 > count); // but for an incomplete group
            for (std::size_t i = 0; i < moved; ++i) {
                const auto at = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(first) +
                                                         static_cast<std::ptrdiff_t>(i) * stride);
                char *const block = &wanted_typed[at], *const in_stream =
                                                           &wanted_packed[start + i * width];
                if (Leaf::direction == Direction::pack)
                    std::copy_n(block, width, in_stream);
                else
                    std::copy_n(in_stream, width, block);
            }
            CHECK((typed == wanted_typed));
            CHECK(std::equal(wanted_packed.begin(), wanted_packed.end(), std::begin(packed)));
        }
    }
}

template <unsigned width>
void check_width() {
    using Pack = compiled::Exact<Direction::pack, width>;
    using Unpack = compiled::Exact<Direction::unpack, width>;
    check<Pack>("pack_fenced", [](auto... a) { return compiled::pack_fenced<Pack>(a...); });
    check<Pack>("pack one by one", [](auto... a) { return compiled::move_one_by_one<Pack>(a...); });
    check<Unpack>("unpack one by one",
                  [](auto... a) { return compiled::move_one_by_one<Unpack>(a...); });
    check<Unpack>("unpack by eights",
                  [](auto... a) { return compiled::move_by_eights<Unpack>(a...); });
    check<Unpack>("unpack_fenced", [](auto... a) { return compiled::unpack_fenced<Unpack>(a...); });
    check<Unpack>("unpack_line_by_line",
                  [](auto... a) { return compiled::unpack_line_by_line<Unpack>(a...); });
    if constexpr (width >= 4) {
        check<Pack>("pack_from_memory",
                    [](auto... a) { return compiled::pack_from_memory<Pack, false, false>(a...); });
        check<Pack>("pack_from_memory, fenced",
                    [](auto... a) { return compiled::pack_from_memory<Pack, true, false>(a...); });
        check<Pack>("pack_from_memory, past caches",
                    [](auto... a) { return compiled::pack_from_memory<Pack, false, true>(a...); });
    }
}

} // namespace

TEST_CASE("every way to move long rows moves the blocks that it says, and nothing else") {
    check_width<1>();
    check_width<2>();
    check_width<4>();
    check_width<8>();
    check_width<16>();
}

TEST_CASE("every family's rows are moved, whichever way they go") {
    // Of strides and lengths on both sides of each threshold.
    std::vector<char> typed(std::size_t{16384} * 1100 + 64), packed(1100 * 8 + 64);
    Rng rng(3);
    for (char &c : typed) c = static_cast<char>(rng.bits());
    using Pack = compiled::Exact<Direction::pack, 8>;
    using Unpack = compiled::Exact<Direction::unpack, 8>;
    char *const to = packed.data() + 64 - reinterpret_cast<uintptr_t>(packed.data()) % 64;
    for (const ucd::seq::CpuTuning *cpu :
         {&ucd::seq::neutral_cpu, &ucd::seq::amd_family_25, &ucd::seq::amd_family_26})
        for (const std::size_t stride : {512, 1024, 2048, 4096, 16384})
            for (const uint64_t whole : {1023, 1100, 2048, 2049, 16384, 16385, 32767, 32768}) {
                const uint64_t count = std::min<uint64_t>(whole, 1100);
                const auto at = reinterpret_cast<uintptr_t>(typed.data());
                uint64_t moved = compiled::move_long_row<Pack>(*cpu, at, stride, count, whole, to);
                REQUIRE(moved <= count);
                for (std::size_t i = 0; i < moved; ++i)
                    REQUIRE(std::equal(to + 8 * i, to + 8 * i + 8, &typed[i * stride]));
                for (std::size_t i = 0; i < 8 * count; ++i) to[i] = static_cast<char>(rng.bits());
                moved = compiled::move_long_row<Unpack>(*cpu, at, stride, count, whole, to);
                REQUIRE(moved <= count);
                for (std::size_t i = 0; i < moved; ++i)
                    REQUIRE(std::equal(to + 8 * i, to + 8 * i + 8, &typed[i * stride]));
            }
}

TEST_CASE("families that nobody has measured have the neutral values") {
    using ucd::seq::tuning_of;
    CHECK(&tuning_of(true, 25) == &ucd::seq::amd_family_25);
    CHECK(&tuning_of(true, 26) == &ucd::seq::amd_family_26);
    for (const unsigned family : {6, 15, 21, 23, 24, 27, 28})
        CHECK(&tuning_of(true, family) == &ucd::seq::neutral_cpu);
    for (const unsigned family : {6, 15, 25, 26})
        CHECK(&tuning_of(false, family) == &ucd::seq::neutral_cpu);
    const ucd::seq::CpuTuning &neutral = ucd::seq::neutral_cpu;
    CHECK(neutral.pack.row == UINT64_MAX);
    CHECK(neutral.unpack.row == UINT64_MAX);
}

#endif

} // namespace long_rows_test
