// Kernels that buffers have to be aligned for, with devices that are threads of the CPU: aligned
// stores, tiles, and the widest words.
#include "support/catch.hpp"

#include "support/buffers/aligned_buffer.hpp"
#include "support/host_vendor/capture.h"
#include "support/moves/device_moves.hpp"

#include <set>
#include <string>
#include <vector>

namespace hostgpu_alignment_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

TEST_CASE("odd blocks are unpacked in aligned stores, from any byte to any byte") {
    DeviceSession session;
    const RecipePtr letter = leaf(UCD_TYPE__CHAR);
    const RecipePtr recipes[] = {hvector(40, 17, 24, letter), hvector(40, 29, -32, letter),
                                 hvector(5, 1, 2048, hvector(9, 21, 40, letter)),
                                 hvector(7, 1, 512, hindexed({17, 30, 9}, {3, 64, 120}, letter))};
    for (const RecipePtr &recipe : recipes) {
        INFO(to_text(*recipe));
        Case one("aligned stores", 0);
        const ReducedSubject what = with_elements(make_subject(one, recipe, 1));
        const std::size_t size = what.subject.size();
        const auto typed = aligned_buffer(one.rng(), what.subject.range, device0, 8);
        DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(size)}, device0);
        for (int i = 0; i < 60; ++i) {
            const std::size_t offset = one.rng().below(size);
            const std::size_t length =
                one.rng().chance(30) ? size - offset : 1 + one.rng().below(size - offset);
            check_device_unpack({one, UCD_OP__REPLACE, what, *typed, packed, offset, length},
                                "kernel");
        }
    }
}

TEST_CASE("matrices are transposed in tiles, from any byte to any byte") {
    DeviceSession session;
    for (const ucd_type_t element :
         {UCD_TYPE__BYTE, UCD_TYPE__SHORT, UCD_TYPE__INT, UCD_TYPE__DOUBLE}) {
        std::uintptr_t bytes = 0;
        REQUIRE(ucd_get_size(element, &bytes) == UCD_SUCCESS);
        const auto width = static_cast<std::intptr_t>(bytes);
        // Rows of 45 elements and 70 columns, of which tiles have 32; and such matrices in a row.
        const RecipePtr matrix = hvector(45, 1, width, vector(70, 1, 47, leaf(element)));
        const std::intptr_t apart = 47 * 70 * width + 64;
        const RecipePtr recipes[] = {
            matrix, hvector(3, 1, apart, matrix),
            hvector(150, 1, width, vector(300, 1, 153, leaf(element))), // lines of several tiles
            hvector(45, 1, width, hvector(3, 1, apart, vector(40, 1, 47, leaf(element))))};
        for (const RecipePtr &recipe : recipes) {
            INFO(to_text(*recipe));
            Case one("tiles", 0);
            const ReducedSubject what = with_elements(make_subject(one, recipe, 1));
            const std::size_t size = what.subject.size();
            const auto typed = aligned_buffer(one.rng(), what.subject.range, device0, bytes);
            for (int i = 0; i < 6; ++i) {
                const std::size_t offset = i == 0 ? 0 : one.rng().below(size / 4),
                                  end = i == 0 ? size : size - one.rng().below(size / 4);
                const auto packed = aligned_buffer(one.rng(), {0, static_cast<std::intptr_t>(size)},
                                                   device0, bytes, offset);
                const DeviceMove move{one,     UCD_OP__REPLACE, what,        *typed,
                                      *packed, offset,          end - offset};
                check_device_pack(move, "kernel");
                check_device_unpack(move, "kernel");
            }
        }
    }
}

TEST_CASE("whole vectors in words of 16 bytes, of a layout that is no nest") {
    DeviceSession session;
    Case one("wide words", 0);
    // More segments than a list has.
    const RecipePtr pair = contig(2, leaf(UCD_TYPE__DOUBLE));
    const RecipePtr recipe = structure(
        {1, 1}, {0, 1 << 22}, {vector(40000, 1, 2, pair), vector(40000, 1, 3, contig(2, pair))});
    const ReducedSubject what = with_elements(make_subject(one, recipe, 1));
    const auto size = static_cast<std::intptr_t>(what.subject.size());
    const auto typed = aligned_buffer(one.rng(), what.subject.range, device0),
               packed = aligned_buffer(one.rng(), {0, size}, device0);
    const DeviceMove move{one, UCD_OP__REPLACE, what, *typed, *packed, 0, what.subject.size()};
    (void)ucd::hostgpu::kernels_launched();
    check_device_pack(move, "kernel");
    check_device_unpack(move, "kernel");
    const std::vector<std::string> launched = ucd::hostgpu::kernels_launched();
    CHECK(std::set(launched.begin(), launched.end()) ==
          std::set<std::string>{"pack_interpreter", "unpack_interpreter"});
}

} // namespace hostgpu_alignment_test
