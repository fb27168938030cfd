// Layouts as text.
#include "layout/layout_text.h"

#include "support/catch.hpp"
#include "unit/layouts_by_hand.hpp"
#include "unit/normal_form.hpp"

#include <cstdint>
#include <string>

namespace layout_text_test {

using namespace ucdtest;

namespace {

// A block of 8 bytes within so many nodes, of which the innermost has a stride of 16, and each
// other one three times that of the one in it.
std::string text_of_nest(int levels, std::uint64_t most = 8) {
    ucd::OwnedLayout nest = block_of(8);
    for (std::int64_t stride = 16; levels > 0; --levels, stride *= 3) repeat_last(nest, 2, stride);
    return to_text(nest, most);
}

} // namespace

TEST_CASE("the text of a layout ends at a depth of 16") {
    CHECK(text_of_nest(2) == "@0 strided(2, 48) strided(2, 16) block(8)");
    for (const int levels : {12, 16}) CHECK(text_of_nest(levels).ends_with("(2, 16) block(8)"));
    CHECK(text_of_nest(17).ends_with("(2, 48) strided(2, 16) ..."));
    CHECK(text_of_nest(18).ends_with("(2, 144) strided(2, 48) ..."));
}

TEST_CASE("the text of a layout has four nodes for each entry that a list may have") {
    CHECK(text_of_nest(3, 1) == "@0 strided(2, 144) strided(2, 48) strided(2, 16) block(8)");
    CHECK(text_of_nest(4, 1) ==
          "@0 strided(2, 432) strided(2, 144) strided(2, 48) strided(2, 16) ...");
    CHECK(text_of_nest(7, 2).ends_with("(2, 16) block(8)"));
    CHECK(text_of_nest(8, 2).ends_with("(2, 16) ..."));
}

TEST_CASE("what comes again is written out as far as what does not") {
    using namespace recipes;
    RecipePtr part = indexed_block(1, {0, 3, 11}, leaf(UCD_TYPE__DOUBLE));
    for (const std::intptr_t stride : {200, 3000, 40000}) part = hvector(12, 1, stride, part);
    const BuiltType type(
        structure({1, 1, 1}, {0, 600000, 700007}, {part, leaf(UCD_TYPE__CHAR), part}));
    const ucd::Type *found = nullptr;
    REQUIRE(ucd::resolve(type.get(), "type", found).ok());
    // Seven nodes, of at most 12.
    const std::string text = to_text(ucd::layout_of(*found), 3);
    INFO(text);
    CHECK(text.find(" #1: ") != std::string::npos);
    CHECK(text.find("...") == std::string::npos);
}

} // namespace layout_text_test
