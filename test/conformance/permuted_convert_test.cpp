// Conversions between arrays in any order of their dimensions, whole and in parts, against the
// oracle's conversion of each element.
#include "support/catch.hpp"
#include "support/keys.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/move_list.hpp"
#include "support/oracle/conversion_oracle.hpp"
#include "support/random/permuted_array.hpp"
#include "support/random/random_cases.hpp"

#include <ucd.h>

#include <cstring>
#include <vector>

namespace permuted_convert_test {

using namespace ucdtest;

TEST_CASE("conversions between arrays in any order of their dimensions") {
    run_cases("permuted conversions", 1000, [](Case &one) {
        Rng &rng = one.rng();
        const bool complex = rng.chance(10);
        const auto types = converted_types(complex);
        const Predefined &from_type = predefined(types[rng.below(types.size())]);
        const Predefined &to_type = predefined(types[rng.below(types.size())]);
        constexpr std::size_t runs[] = {1, 1, 1, 1, 2, 3, 5, 64, 77};
        const std::size_t run = runs[rng.below(std::size(runs))];
        const std::size_t most = (rng.chance(20) ? 60000 : 12000) / run;
        const auto bytes_of = [run](const Predefined &type) {
            return static_cast<std::intptr_t>(run * type.size);
        };
        const PermutedArray from(rng, most, bytes_of(from_type)), to(rng, from, bytes_of(to_type));
        const bool by_count = rng.chance(40), saturate = rng.chance(50);
        ucd_type_t in = from.build(from_type.handle, by_count);
        ucd_type_t out = to.build(to_type.handle, by_count);
        const std::uintptr_t count = from.count(by_count);
        std::vector<unsigned char> source(from.span + 8), target(to.span + 64, 0xdd);
        for (unsigned char &b : source) b = static_cast<unsigned char>(rng.bits());
        std::vector<unsigned char> expected = target;
        const std::size_t in_shift = rng.below(8), out_shift = rng.below(64);
        const std::size_t total = from.entries * run;
        const bool is_part = rng.chance(40);
        const std::size_t first = is_part ? rng.below(total) : 0;
        const std::size_t elements = is_part ? 1 + rng.below(total - first) : total;
        for (std::size_t i = first; i < first + elements; ++i)
            convert_element(
                from_type,
                source.data() + in_shift + from.offset_of(i / run) + i % run * from_type.size,
                to_type,
                expected.data() + out_shift + to.offset_of(i / run) + i % run * to_type.size,
                saturate);
        Keys info;
        if (rng.chance(5)) info.set("ucd.threads", "3");
        const ucd_move_t move = part_move(source.data() + in_shift, count, in,
                                          first * from_type.size, target.data() + out_shift, count,
                                          out, first * to_type.size, elements * from_type.size);
        std::uintptr_t actual = 0;
        one.succeed(call_move(rng, move, &actual, info,
                              saturate ? UCD_OP__CONVERT_SAT : UCD_OP__CONVERT, true),
                    "converting move");
        if (actual != elements * to_type.size || target != expected)
            one.fail("conversion of ", elements, " elements of ", from_type.name, " to ",
                     to_type.name, " from element ", first, " is wrong");
        REQUIRE(ucd_free(&out) == UCD_SUCCESS);
        REQUIRE(ucd_free(&in) == UCD_SUCCESS);
    });
}

// Before whole rows of the target come parts whose lines are few and far apart there.
TEST_CASE("a conversion may begin within any child of an array") {
    constexpr std::intptr_t shape[] = {70, 3, 90}, in_strides[] = {3 * 90 * 4, 90 * 4, 4},
                            out_strides[] = {8, 70 * 8, 3 * 70 * 8};
    constexpr std::size_t each = 3 * 90, total = 70 * each;
    const Predefined &from = predefined(UCD_TYPE__FLOAT), &to = predefined(UCD_TYPE__DOUBLE);
    ucd_type_t in = UCD_TYPE__NULL, out = UCD_TYPE__NULL;
    REQUIRE(ucd_create_ndarray(3, shape, in_strides, from.handle, nullptr, &in) == UCD_SUCCESS);
    REQUIRE(ucd_create_ndarray(3, shape, out_strides, to.handle, nullptr, &out) == UCD_SUCCESS);
    std::vector<unsigned char> source(4 * total);
    Rng rng(3);
    for (unsigned char &b : source) b = static_cast<unsigned char>(rng.bits());
    for (const std::size_t first : {0, 90, 180, 91, 5 * 270 + 90, 5 * 270 + 100})
        for (const std::size_t end : {total, total - 90, total - 100, total - 270}) {
            INFO(first << " to " << end);
            std::vector<unsigned char> target(8 * total, 0xdd), expected = target;
            for (std::size_t i = first; i < end; ++i)
                convert_element(from, &source[4 * i], to,
                                &expected[8 * (i / each + i / 90 % 3 * 70 + i % 90 * 3 * 70)],
                                false);
            ucd_move_t move = part_move(source.data(), 1, in, 4 * first, target.data(), 1, out,
                                        8 * first, 4 * (end - first));
            REQUIRE(ucd_move(&move, 1, nullptr, UCD_OP__CONVERT) == UCD_SUCCESS);
            CHECK(target == expected);
        }
    REQUIRE(ucd_free(&out) == UCD_SUCCESS);
    REQUIRE(ucd_free(&in) == UCD_SUCCESS);
}

} // namespace permuted_convert_test
