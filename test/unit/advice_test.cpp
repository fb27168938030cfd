// ucd_get_advice, and that ucd_describe words what it returns.
#include "support/catch.hpp"

#include "support/moves/recipe_build.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"

#include <ucd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace advice_test {

using namespace ucdtest;

namespace {

const ucd_type_t byte = UCD_TYPE__BYTE;

uint32_t form_of(ucd::TypeRef type, std::uintptr_t count = 1, std::uintptr_t min_segment = 0,
                 std::uintptr_t max_entries = 0) {
    return type.advice(count, min_segment, max_entries).form;
}

std::string described(ucd::TypeRef type) {
    const std::string text = type.describe(), key = "\nadvice: ";
    const std::size_t at = text.find(key) + key.size();
    return text.substr(at, text.find('\n', at) - at);
}

} // namespace

TEST_CASE("advice follows the rules of its decision") {
    using ucd::Type;
    CHECK(form_of(Type::contig(0, byte)) == UCD_FORM__CONTIG);
    CHECK(form_of(Type::contig(1, byte)) == UCD_FORM__CONTIG);
    CHECK(form_of(Type::hvector(1024, 1024, 5000, byte)) == UCD_FORM__IOV);
    CHECK(form_of(Type::hvector(1025, 1024, 5000, byte)) == UCD_FORM__BOXES);
    CHECK(form_of(Type::hvector(1024, 1023, 5000, byte)) == UCD_FORM__BOXES);
    CHECK(form_of(Type::hvector(1000, 64, 5000, byte)) == UCD_FORM__BOXES);
    CHECK(form_of(Type::hvector(1000, 63, 5000, byte)) == UCD_FORM__PACK);
    CHECK(form_of(Type::ndarray({20, 20, 100}, {90000, 400, 1}, byte)) == UCD_FORM__BOXES);
    CHECK(form_of(Type::ndarray({5, 20, 20, 100}, {9000000, 90000, 400, 1}, byte)) ==
          UCD_FORM__PACK);
    CHECK(form_of(Type::hindexed_block(100, {0, 150, 900}, byte)) == UCD_FORM__PACK);
    CHECK(form_of(Type::hindexed_block(5000, {0, 6000, 90000}, byte)) == UCD_FORM__IOV);
}

TEST_CASE("advice is for all of the count") {
    const ucd::Type rows =
        ucd::Type::resized(ucd::Type::hvector(512, 2000, 5000, byte), 0, 9000000);
    CHECK(form_of(rows, 0) == UCD_FORM__CONTIG);
    CHECK(form_of(rows, 1) == UCD_FORM__IOV);
    CHECK(form_of(rows, 2) == UCD_FORM__IOV);
    CHECK(form_of(rows, 3) == UCD_FORM__BOXES); // 1536 entries; planes of rows
    CHECK(form_of(byte, 1000) == UCD_FORM__CONTIG);
    const ucd_advice_t three = rows.advice(3);
    CHECK((three.segments == 1536 && three.boxes == 1 && three.bytes == 3072000));
    CHECK(three.mean_segment == 2000);
    const ucd_advice_t none = rows.advice(0);
    CHECK((none.segments == 0 && none.boxes == 0 && none.bytes == 0 && none.mean_segment == 0));
}

TEST_CASE("callers have thresholds of their own, and 0 is the library's") {
    // 3 segments of 100, 101 and 101 bytes: 100 on average, rounded down.
    const ucd::Type list = ucd::Type::hindexed({100, 101, 101}, {0, 150, 900}, byte);
    CHECK(list.advice().mean_segment == 100);
    CHECK(form_of(list) == UCD_FORM__PACK);
    CHECK(form_of(list, 1, 100, 3) == UCD_FORM__IOV);
    CHECK(form_of(list, 1, 101, 3) == UCD_FORM__PACK);
    CHECK(form_of(list, 1, 100, 2) == UCD_FORM__PACK);
    CHECK(form_of(list, 1, 1, UINTPTR_MAX) == UCD_FORM__IOV);
    CHECK(form_of(list, 1, UINTPTR_MAX, UINTPTR_MAX) == UCD_FORM__PACK);
    const ucd::Type rows = ucd::Type::hvector(1024, 1024, 5000, byte);
    for (const std::uintptr_t min_segment : {0, 1024})
        for (const std::uintptr_t max_entries : {0, 1024})
            CHECK(form_of(rows, 1, min_segment, max_entries) == UCD_FORM__IOV);
    CHECK(form_of(rows, 1, 1025, 0) == UCD_FORM__BOXES);
    CHECK(form_of(rows, 1, 0, 1023) == UCD_FORM__BOXES);
    // One segment is one, whatever the limits are.
    CHECK(form_of(byte, 1, UINTPTR_MAX, 1) == UCD_FORM__CONTIG);
}

TEST_CASE("advice on indices that are read when data moves is to pack") {
    const std::vector<std::int64_t> indices(4);
    const ucd::Type pages = ucd::Type::indexed_block_ref(4, 1, indices.data(), UCD_TYPE__INT64_T,
                                                         4096, 0, 1 << 20, UCD_TYPE__DOUBLE);
    for (const std::uintptr_t count : {1, 5}) {
        const ucd_advice_t advice = pages.advice(count, 1, UINTPTR_MAX);
        CHECK(advice.form == UCD_FORM__PACK);
        CHECK((advice.segments == 0 && advice.boxes == 0 && advice.mean_segment == 0));
        CHECK(advice.bytes == 32 * count);
    }
    CHECK(described(pages).starts_with("pack: its indices "));
    const ucd::Type on_it = ucd::Type::structure({1, 1}, {0, 2 << 20}, {pages.get(), byte});
    CHECK(on_it.advice().form == UCD_FORM__PACK);
    CHECK(on_it.advice().segments == 0);
    CHECK(pages.advice(0).form == UCD_FORM__PACK);
    // Also if what is read moves nothing: other functions refuse such a type, too.
    const ucd::Type none =
        ucd::Type::indexed_block_ref(0, 1, nullptr, UCD_TYPE__INT64_T, 8, 0, 8, UCD_TYPE__DOUBLE);
    const ucd::Type beside = ucd::Type::structure({1, 1}, {0, 8}, {none.get(), UCD_TYPE__DOUBLE});
    CHECK(beside.advice().form == UCD_FORM__PACK);
    CHECK((beside.advice().segments == 0 && beside.advice().bytes == 8));
    CHECK(described(beside).starts_with("pack: its indices "));
}

TEST_CASE("advice has the numbers of ucd_iov and ucd_get_boxes, and ucd_describe words it") {
    run_cases("advice", 1000, [](Case &one) {
        const RandomType random = random_type(one.rng());
        const std::uintptr_t count = one.rng().below(4);
        one.about("type", random.recipe, count);
        const BuiltType type(random.recipe);
        ucd_advice_t advice{};
        advice.struct_size = sizeof advice;
        std::uintptr_t size = 0, segments = 0, boxes = 0, listed = 0;
        one.succeed(ucd_get_size(type.get(), &size), "ucd_get_size");
        one.succeed(ucd_iov_len(count, type.get(), &segments), "ucd_iov_len");
        one.succeed(ucd_get_boxes(count, type.get(), 0, nullptr, 0, &listed, &boxes),
                    "ucd_get_boxes");
        one.succeed(ucd_get_advice(count, type.get(), 0, 0, &advice), "ucd_get_advice");
        if (advice.segments != segments || advice.boxes != boxes || advice.bytes != count * size ||
            advice.mean_segment != (segments > 0 ? count * size / segments : 0))
            one.fail("advice of ", advice.segments, " segments of ", advice.mean_segment, " in ",
                     advice.boxes, " boxes; there are ", segments, " in ", boxes);
        if ((advice.form == UCD_FORM__CONTIG) != (segments < 2))
            one.fail("form ", advice.form, " for ", segments, " segments");
        if (advice.form == UCD_FORM__BOXES && boxes != 1) one.fail(boxes, " boxes are advised");
        const std::uintptr_t mean = advice.mean_segment;
        if (segments > 1) {
            one.succeed(ucd_get_advice(count, type.get(), mean, segments, &advice),
                        "ucd_get_advice");
            if (advice.form != UCD_FORM__IOV) one.fail("form ", advice.form, " where all fit");
        }
        one.succeed(ucd_get_advice(1, type.get(), 0, 0, &advice), "ucd_get_advice");
        const char *const words[] = {"none", "iov", "dma", "pack"};
        const std::string text = described(ucd::TypeRef(type.get()));
        if (!text.starts_with(std::string(words[advice.form]) + ": "))
            one.fail("ucd_describe advises ", text, ", and ucd_get_advice form ", advice.form);
    });
}

} // namespace advice_test
