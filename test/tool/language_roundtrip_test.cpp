// Types to text and back: equal flattened bytes.
#include "support/catch.hpp"

#include "support/moves/flat_bytes.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"

#include "language/build.hpp"
#include "language/parse.hpp"
#include "language/print.hpp"

#include <ucd.hpp>

#include <cctype>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace language_roundtrip_test {

using namespace ucdtest;

namespace {

using Bytes = std::vector<std::byte>;

// The text of a type must parse to a type of the same bytes.
void require_round_trip(const Case &one, ucd::TypeRef type) {
    const Bytes before = ucd::flatten(type);
    const std::string text = ucdtool::to_text(type);
    try {
        if (ucd::flatten(ucdtool::build(ucdtool::parse(text))) == before) return;
    } catch (const std::exception &e) {
        one.fail(text, "\n", e.what());
    }
    one.fail("other bytes from ", text);
}

void check_round_trip(ucd::TypeRef type) {
    const std::string text = ucdtool::to_text(type);
    INFO(text);
    CHECK(ucd::flatten(ucdtool::build(ucdtool::parse(text))) == ucd::flatten(type));
}

// A recipe's C++ text as text of the language.
std::string recipe_text(const Recipe &recipe) {
    std::string text = to_text(recipe);
    const std::pair<const char *, const char *> words[] = {
        {"structure(", "struct("}, {"UCD_ORDER__", ""}, {"UCD_DISTRIBUTE__DFLT_DARG", "DFLT"},
        {"UCD_DISTRIBUTE__", ""},  {"{", "["},          {"}", "]"}};
    for (const auto &[from, to] : words)
        for (std::size_t at; (at = text.find(from)) != std::string::npos;)
            text.replace(at, std::string_view(from).size(), to);
    for (std::size_t at; (at = text.find("leaf(")) != std::string::npos;) {
        const std::size_t end = text.find(')', at);
        std::string name = text.substr(at, end - at);
        name.erase(0, std::string_view("leaf(UCD_TYPE__").size());
        for (char &c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        text.replace(at, end + 1 - at, name);
    }
    return text;
}

// From bytes that no ucd_flatten wrote: representations, bounds and lists of other machines.
void check_foreign(const FlatBytes &bytes) {
    const ucd::Type type = ucd::unflatten(std::as_bytes(std::span(bytes)));
    check_round_trip(type);
}

} // namespace

TEST_CASE("random types keep their flattened bytes through text") {
    run_cases("text round trip", 4000, [](Case &one) {
        const RandomType t = random_type(one.rng());
        one.about("type", t.recipe);
        const BuiltType type(t.recipe);
        require_round_trip(one, type.get());
    });
}

TEST_CASE("a recipe's own text is in the language, and means the recipe") {
    run_cases("recipe text", 2000, [](Case &one) {
        const RandomType t = random_type(one.rng());
        one.about("type", t.recipe);
        const BuiltType type(t.recipe);
        const ucdtool::Expression parsed = ucdtool::parse(recipe_text(*t.recipe));
        if (ucd::flatten(ucdtool::build(parsed)) != ucd::flatten(type.get()))
            one.fail("another type");
        // What is printed of it parses to the same expression.
        const std::string text = ucdtool::to_text(parsed);
        if (ucdtool::to_text(ucdtool::parse(text)) != text) one.fail("another text than ", text);
    });
}

TEST_CASE("every predefined type has a name, and comes back in its representation") {
    std::size_t seen = 0;
    for (const ucdtool::PredefinedName &p : ucdtool::predefined_names()) {
        INFO(p.name);
        CHECK(reinterpret_cast<uintptr_t>(p.type) == ++seen);
        CHECK(ucdtool::to_text(ucdtool::parse(p.name)) == p.name);
        check_round_trip(p.type);
    }
    CHECK(seen == reinterpret_cast<uintptr_t>(UCD_TYPE__FLOAT8_E5M2));
}

TEST_CASE("empty types, bounds and starts come back") {
    const char *const texts[] = {
        "contig(0,double)",
        "resized(contig(0,int),-5,17)",
        "resized(double,-8,-16)",
        "resized(char,0,0)",
        "hindexed_block(1,[-40],vector(3,1,-2,int))",
        "struct([],[],[])",
        "struct([0,2],[100,-3],[double,short_int])",
        "contig(2,struct([1,1],[0,8],[double,char]))",
        "hindexed_block(1,[4611686018427387904],char)",
        "hvector(1099511627776,1,16,double)",
        "ndarray([2,3,4],[-96,32,8],double)",
        "bounds(contig(3,int),-8,40)",
        "aligned(bounds(contig(3,int),-8,40),16)",
        "resized(aligned(int,1),0,4)",
        "aligned(resized(contig(0,int),-1,4),64)",
        "element(7,8,4)",
        "element(9,16,4)",
        "element(16,1,2)",
        "contig(3,element(14,20,4))",
    };
    for (const char *const text : texts) {
        INFO(text);
        check_round_trip(ucdtool::build(ucdtool::parse(text)));
    }
}

TEST_CASE("flattened bytes of other machines and writers come back") {
    FlatNodes indexed;
    indexed.indexed(3, 4, 12, indexed.int64(), {3, 50}, {2, 1, 4});
    check_foreign(indexed.sealed({.extent = 300}));
    check_foreign(
        indexed.sealed({.start = -16, .lb = -16, .extent = 200, .explicit_bounds = true}));
    FlatNodes foreign;
    foreign.nest({4, 100, 3, 24}, foreign.element(7, 16, 3));
    check_foreign(foreign.sealed({.extent = 400, .alignment_log = 3}));
    FlatNodes shared; // 2^20 elements in a text that stays short
    std::uint32_t id = shared.int64();
    const std::uint32_t byte = shared.byte();
    for (int level = 0; level < 20; ++level) {
        const std::int64_t apart = std::int64_t{100} << level;
        id = shared.structure(3, 1, {id, id, byte}, {apart, apart});
    }
    const FlatBytes sealed = shared.sealed();
    const ucd::Type doubled = ucd::unflatten(std::as_bytes(std::span(sealed)));
    CHECK(ucdtool::to_text(doubled).size() < 4000);
    check_round_trip(doubled);
}

TEST_CASE("whatever bytes are accepted come back") {
    std::size_t accepted = 0;
    run_cases("mutated bytes through text", 20000, [&](Case &one) {
        const RandomType t = random_type(one.rng(), {.max_bytes = 512});
        one.about("before it was mutated", t.recipe);
        const BuiltType type(t.recipe);
        const Bytes before = ucd::flatten(type.get());
        FlatBytes bytes(before.size());
        std::memcpy(bytes.data(), before.data(), before.size());
        for (std::size_t n = one.rng().below(4) + 1; n > 0; --n) {
            // Flags, alignment, and everything behind the header.
            const std::size_t at =
                one.rng().chance(20)
                    ? 6 + one.rng().below(2)
                    : flat_header_bytes + one.rng().below(bytes.size() - flat_header_bytes);
            bytes[at] = static_cast<std::uint8_t>(one.rng().chance(50) ? one.rng().below(20)
                                                                       : one.rng().bits());
        }
        seal(bytes);
        ucd_type_t mutated = UCD_TYPE__NULL;
        if (ucd_unflatten(&mutated, bytes.data(), bytes.size()) != UCD_SUCCESS) return;
        ++accepted;
        require_round_trip(one, ucd::Type(mutated));
    });
    CHECK(accepted > 0);
}

TEST_CASE("a type of a hundred thousand levels goes through text") {
    std::string text;
    constexpr int levels = 100000;
    for (int i = 0; i < levels; ++i) text += "hindexed([1,2],[0,40],resized(";
    text += "int";
    for (int i = 0; i < levels; ++i) text += ",0,0))";
    // Deep, but of few bytes: only one branch counts.
    std::string thin;
    for (int i = 0; i < levels; ++i) thin += "struct([1,0],[8,0],[resized(";
    thin += "int";
    for (int i = 0; i < levels; ++i) thin += ",0,8),char])";
    const ucdtool::Expression deep = ucdtool::parse(thin);
    CHECK(ucdtool::to_text(deep) == thin);
    check_round_trip(ucdtool::build(deep));
    CHECK(ucdtool::to_text(ucdtool::parse(text)) == text);
}

} // namespace language_roundtrip_test
