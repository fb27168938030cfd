// Every conversion of every instruction set, against the oracle's exact arithmetic.
#include "convert_range.h"
#include "kernel_set.h"

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/oracle/conversion_oracle.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/rng.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace convert_kernels_test {

using namespace ucd;
using namespace ucd::seq;
using ucdtest::Predefined;
using ucdtest::Rng;

namespace {

const Predefined &type_of(Element element) {
    return ucdtest::predefined(ucdtest::public_type(element));
}

// The bits of a float or double at the edges of what the target rounds to: its numbers and the
// middles between them, and their neighbours. Such values are what random bits rarely are.
uint64_t near_an_edge(Rng &rng, Element from, Element to) {
    const Predefined &source = type_of(from), &target = type_of(to);
    uint64_t seed = rng.bits(), bits = 0;
    ucdtest::convert_element(target, &seed, source, &bits, false);
    // The middle between two numbers of the target has one more bit.
    const int shift = static_cast<int>(rng.below(8 * source.size));
    switch (rng.below(4)) {
    case 0: bits += rng.below(3) - 1; break;
    case 1: bits ^= uint64_t{1} << shift; break;
    case 2: bits = (bits ^ uint64_t{1} << shift) + rng.below(3) - 1; break;
    default: break;
    }
    return bits;
}

// Elements with all bit patterns of narrow sources, and many of others.
std::vector<unsigned char> elements_to_convert(Rng &rng, Element from, Element to) {
    const std::size_t size = packed_size(from);
    const std::size_t count = size <= 2 ? std::size_t{1} << (8 * size)
                                        : static_cast<std::size_t>(60000 * ucdtest::case_factor());
    std::vector<unsigned char> bytes(count * size);
    for (std::size_t i = 0; i < count; ++i) {
        const uint64_t bits = size <= 2           ? i
                              : rng.below(3) == 0 ? rng.bits() >> rng.below(64)
                              : rng.below(2) == 0 ? rng.bits()
                                                  : near_an_edge(rng, from, to);
        std::memcpy(bytes.data() + i * size, &bits, size);
    }
    return bytes;
}

std::vector<unsigned char> by_oracle(const std::vector<unsigned char> &in, Element from, Element to,
                                     bool saturate) {
    const std::size_t count = in.size() / packed_size(from);
    std::vector<unsigned char> out(count * packed_size(to));
    for (std::size_t i = 0; i < count; ++i)
        ucdtest::convert_element(type_of(from), in.data() + i * packed_size(from), type_of(to),
                                 out.data() + i * packed_size(to), saturate);
    return out;
}

std::string first_difference(const std::vector<unsigned char> &in, Element from,
                             const unsigned char *out, const std::vector<unsigned char> &expected,
                             Element to) {
    const std::size_t size = packed_size(to);
    for (std::size_t i = 0; i < expected.size(); i += size) {
        if (std::memcmp(out + i, expected.data() + i, size) == 0) continue;
        uint64_t source = 0, got = 0, wanted = 0;
        std::memcpy(&source, in.data() + i / size * packed_size(from), packed_size(from));
        std::memcpy(&got, out + i, size);
        std::memcpy(&wanted, expected.data() + i, size);
        char text[128];
        std::snprintf(text, sizeof text, "0x%jx becomes 0x%jx, not 0x%jx",
                      static_cast<uintmax_t>(source), static_cast<uintmax_t>(got),
                      static_cast<uintmax_t>(wanted));
        return text;
    }
    return {};
}

} // namespace

TEST_CASE("conversions give the bits of exact arithmetic, rounded once") {
    for (const KernelSet *set : kernel_sets())
        for (const ConvertKernelInfo &kernel : set->conversions) {
            Rng rng(ucdtest::mix_seed(ucdtest::session_seed(), kernel.name()));
            const auto in = elements_to_convert(rng, kernel.from, kernel.to);
            for (const bool saturate : {false, true}) {
                INFO(set->instructions << ' ' << kernel.name() << " for " << type_of(kernel.from).name
                                       << " to " << type_of(kernel.to).name
                                       << (saturate ? ", saturating" : ""));
                const auto expected = by_oracle(in, kernel.from, kernel.to, saturate);
                // At any address, with bytes around that stay.
                std::vector<unsigned char> out(expected.size() + 7, 0x5a);
                kernel.function(out.data() + 3, in.data(), in.size() / packed_size(kernel.from),
                                saturate);
                CHECK(first_difference(in, kernel.from, out.data() + 3, expected, kernel.to) == "");
                CHECK((out[2] == 0x5a && out[expected.size() + 3] == 0x5a));
            }
        }
}

TEST_CASE("conversions of few elements touch no others") {
    for (const KernelSet *set : kernel_sets())
        for (const ConvertKernelInfo &kernel : set->conversions) {
            Rng rng(ucdtest::mix_seed(ucdtest::session_seed(), kernel.name()));
            for (std::size_t count = 0; count < 70; ++count) {
                std::vector<unsigned char> in(count * packed_size(kernel.from));
                for (unsigned char &byte : in) byte = static_cast<unsigned char>(rng.bits());
                const auto expected = by_oracle(in, kernel.from, kernel.to, false);
                std::vector<unsigned char> out(expected.size() + 2, 0x5a);
                kernel.function(out.data() + 1, in.data(), count, false);
                INFO(set->instructions << ' ' << kernel.name() << ", " << count << " elements");
                CHECK(first_difference(in, kernel.from, out.data() + 1, expected, kernel.to) == "");
                CHECK((out.front() == 0x5a && out.back() == 0x5a));
            }
        }
}

TEST_CASE("the table has all conversions that change bits") {
    for (int f = 0; f < static_cast<int>(Element::count_); ++f)
        for (int t = 0; t < static_cast<int>(Element::count_); ++t) {
            const auto from = static_cast<Element>(f), to = static_cast<Element>(t);
            INFO("from " << f << " to " << t);
            const bool is_real = converted_part(from) == from && converted_part(to) == to;
            const bool defined = is_real && is_convertible(from, to) && !has_same_bits(from, to);
            CHECK((convert_kernel(from, to) != nullptr) == defined);
            // The set that every machine has is complete.
            CHECK((kernel_sets().back()->conversions.find(from, to) != nullptr) == defined);
        }
}

#if defined(__SSE2__)
TEST_CASE("conversions do not depend on the thread's floating-point modes") {
    const unsigned before = _mm_getcsr();
    Rng rng(ucdtest::mix_seed(ucdtest::session_seed(), "modes"));
    for (const auto &[from, to] : {std::pair{Element::float32, Element::float64},
                                   {Element::float64, Element::float32},
                                   {Element::float64, Element::bfloat16},
                                   {Element::int64, Element::float32},
                                   {Element::float16, Element::float32}}) {
        const auto in = elements_to_convert(rng, from, to);
        const auto expected = by_oracle(in, from, to, false);
        // Flushing subnormal numbers to zero, rounding upwards, and trapping invalid operations.
        for (const unsigned mode : {0x8040u, 0x4000u, 0u}) {
            std::vector<unsigned char> out(expected.size());
            Move move;
            move.from.address = reinterpret_cast<char *>(const_cast<unsigned char *>(in.data()));
            move.to.address = reinterpret_cast<char *>(out.data());
            move.length = in.size();
            move.op = Op::convert;
            move.from_element = from;
            move.to_element = to;
            const unsigned set = mode == 0 ? before & ~0x80u : before | mode;
            _mm_setcsr(set);
            convert_range(move);
            const unsigned after = _mm_getcsr();
            _mm_setcsr(before);
            CHECK(after == set);
            CHECK(first_difference(in, from, out.data(), expected, to) == "");
        }
    }
}
#endif

} // namespace convert_kernels_test
