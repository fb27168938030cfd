// Bad arguments of what asks about types, lists their segments, and flattens them.
#include "c_api/refusal.hpp"

#include <cstring>
#include <vector>

namespace bad_arguments_query_test {

using namespace ucdtest;

namespace {

const std::uintptr_t segments = 3;

} // namespace

TEST_CASE_METHOD(Refusing, "ucd_get_size, ucd_get_extent and ucd_get_true_extent refuse") {
    r.needs("ucd_get_size", ucd_get_size, {"type", "size"}, v, &o.size);
    for (const auto &[f, get] : {std::pair("ucd_get_extent", &ucd_get_extent),
                                 std::pair("ucd_get_true_extent", &ucd_get_true_extent)})
        r.needs(f, get, {"type", "lb", "extent"}, v, &o.lb, &o.extent);
}

TEST_CASE_METHOD(Refusing, "ucd_get_layout refuses") {
    const char *const f = "ucd_get_layout";
    r.needs(f, ucd_get_layout, {"count", "type", "layout"}, 1, v, &o.layout);
    r.refused(f, UCD_ERR__OVERFLOW, "count is 2305843009213693951",
              [&] { return ucd_get_layout(too_many, v, &o.layout); });
    r.short_structs<ucd_layout_t>(f, [&](auto *layout) { return ucd_get_layout(1, v, layout); });
}

TEST_CASE_METHOD(Refusing, "ucd_get_advice refuses") {
    const char *const f = "ucd_get_advice";
    r.needs(f, ucd_get_advice, {"count", "type", nullptr, nullptr, "advice"}, 1, v, 0, 0,
            &o.advice);
    r.short_structs<ucd_advice_t>(f,
                                  [&](auto *advice) { return ucd_get_advice(1, v, 0, 0, advice); });
}

namespace {

// `fill` fills in a struct as far as its struct_size says.
template <class Struct, class Fill>
void check_no_byte_beyond_size(Fill fill) {
    Struct whole = {}, part, before;
    whole.struct_size = sizeof whole;
    REQUIRE(fill(whole) == UCD_SUCCESS);
    for (std::uint32_t n = 4; n <= sizeof whole; ++n) {
        std::memset(static_cast<void *>(&part), pattern, sizeof part);
        part.struct_size = n;
        before = part;
        REQUIRE(fill(part) == UCD_SUCCESS);
        REQUIRE(part.struct_size == n);
        REQUIRE(std::memcmp(reinterpret_cast<char *>(&part) + 4,
                            reinterpret_cast<char *>(&whole) + 4, n - 4) == 0);
        REQUIRE(std::memcmp(reinterpret_cast<char *>(&part) + n,
                            reinterpret_cast<char *>(&before) + n, sizeof part - n) == 0);
    }
}

} // namespace

TEST_CASE("No byte beyond struct_size is written") {
    const Handle v(make_vector);
    check_no_byte_beyond_size<ucd_layout_t>([&](auto &l) { return ucd_get_layout(2, v, &l); });
    check_no_byte_beyond_size<ucd_advice_t>(
        [&](auto &a) { return ucd_get_advice(2, v, 0, 0, &a); });
    check_no_byte_beyond_size<ucd_backend_desc_t>([](auto &d) { return ucd_backend_get(0, &d); });
    // A caller from the future has a longer struct.
    struct Longer {
        ucd_layout_t known;
        std::uint64_t unknown;
    } longer = {{}, 7};
    longer.known.struct_size = sizeof longer;
    REQUIRE(ucd_get_layout(2, v, &longer.known) == UCD_SUCCESS);
    CHECK(longer.known.bytes == 2 * packed);
    CHECK(longer.unknown == 7);
}

TEST_CASE_METHOD(Refusing, "ucd_get_memory and ucd_describe refuse") {
    r.needs("ucd_get_memory", ucd_get_memory,
            {nullptr, "count", "type", nullptr, nullptr, nullptr, "needed"}, nullptr, 1, v, nullptr,
            o.text, sizeof o.text, &o.size);
    r.needs("ucd_describe", ucd_describe, {"type", nullptr, nullptr, "needed"}, v, o.text,
            sizeof o.text, &o.size);
}

TEST_CASE_METHOD(Refusing, "Functions that fill a text tell its length, and cut nothing") {
    ucd_info_t info = UCD_INFO__NULL;
    REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
    REQUIRE(ucd_info_set(info, "of.others", "text") == UCD_SUCCESS);
    using Fill = std::function<int(char *, std::uintptr_t, std::uintptr_t *)>;
    const struct {
        const char *function, *argument, *begins;
        Fill fill;
    } functions[] = {
        {"ucd_info_get", "value", "text",
         [&](auto... a) { return ucd_info_get(info, "of.others", a...); }},
        {"ucd_info_get_nthkey", "key", "of.others",
         [&](auto... a) { return ucd_info_get_nthkey(info, 0, a...); }},
        {"ucd_get_memory", "memory", "host",
         [&](auto... a) { return ucd_get_memory(nullptr, 1, v, nullptr, a...); }},
        {"ucd_describe", "text", "type:", [&](auto... a) { return ucd_describe(v, a...); }},
    };
    for (const auto &[f, argument, begins, fill] : functions) {
        const std::string name = argument;
        std::uintptr_t needed = 0, again = 0;
        CHECK(fill(nullptr, 0, &needed) == UCD_SUCCESS);
        REQUIRE(needed > std::strlen(begins));
        std::string text(needed, 'x');
        CHECK(fill(text.data(), 0, &again) == UCD_SUCCESS);
        const auto room = [&](std::uintptr_t size) {
            r.refused(f, UCD_ERR__TRUNCATED,
                      name + "_size is " + std::to_string(size) + "; the " + name + " needs " +
                          std::to_string(needed) + " bytes",
                      [&, &call = fill] { return call(text.data(), size, &again); });
            CHECK(again == needed);
        };
        room(1);
        room(needed - 1);
        r.invalid(f, name + " is NULL", [&, &call = fill] { return call(nullptr, 9, &again); });
        CHECK(text == std::string(needed, 'x'));
        CHECK(fill(text.data(), needed, &again) == UCD_SUCCESS);
        CHECK(text.starts_with(begins));
        CHECK(std::strlen(text.c_str()) + 1 == needed);
    }
    CHECK(ucd_info_free(&info) == UCD_SUCCESS);
}

TEST_CASE_METHOD(Refusing, "ucd_iov_len and ucd_iov_len_max refuse") {
    r.needs("ucd_iov_len", ucd_iov_len, {"count", "type", "iov_len"}, 1, v, &o.size);
    r.needs("ucd_iov_len_max", ucd_iov_len_max,
            {"count", "type", nullptr, "iov_len", "actual_iov_bytes"}, 1, v, 9, &o.size,
            &o.other_size);
}

TEST_CASE_METHOD(Refusing, "ucd_iov refuses") {
    const char *const f = "ucd_iov";
    r.needs(f, ucd_iov, {nullptr, "count", "type", nullptr, "iov", nullptr, "actual_iov_len"},
            o.data, 1, v, 0, o.entries, 4, &o.size);
    for (const std::uintptr_t offset : {segments + 1, UINTPTR_MAX})
        r.invalid(f, "iov_offset is " + std::to_string(offset),
                  [&] { return ucd_iov(o.data, 1, v, offset, o.entries, 4, &o.size); });
    r.invalid(f, "iov_offset is 1",
              [&] { return ucd_iov(o.data, 0, v, 1, o.entries, 4, &o.size); });
    CHECK((ucd_iov(o.data, 1, v, segments, nullptr, 0, &o.size) == UCD_SUCCESS && o.size == 0));
}

TEST_CASE_METHOD(Refusing, "ucd_get_boxes and ucd_get_element_runs refuse") {
    const auto refuse = [&](const char *f, auto function, auto *listed, const char *list,
                            const char *first, std::uintptr_t total) {
        const auto call = [&](std::uintptr_t count, ucd_type_t t, std::uintptr_t from) {
            return function(count, t, from, listed, 2, &o.size, &o.other_size);
        };
        const std::string name = list;
        const std::string actual = "actual_" + name, all = "total_" + name;
        r.needs(f, function, {"count", "type", nullptr, list, nullptr, actual.c_str(), all.c_str()},
                1, v, 0, listed, 2, &o.size, &o.other_size);
        for (const std::uintptr_t from : {total + 1, UINTPTR_MAX})
            r.invalid(f, first + (" is " + std::to_string(from)), [&] { return call(1, v, from); });
        r.invalid(f, first + std::string(" is 1"), [&] { return call(0, v, 1); });
        CHECK((call(1, v, total) == UCD_SUCCESS && o.size == 0 && o.other_size == total));
        CHECK((call(0, v, 0) == UCD_SUCCESS && o.size == 0 && o.other_size == 0));
    };
    refuse("ucd_get_boxes", ucd_get_boxes, o.boxes, "boxes", "first_box", 1);
    refuse("ucd_get_element_runs", ucd_get_element_runs, o.runs, "runs", "first_run", 1);
}

TEST_CASE_METHOD(Refusing, "ucd_element_boundary and ucd_get_elements refuse") {
    const auto refuse = [&](const char *f, auto function, const char *position, const char *output,
                            std::uintptr_t all) {
        r.needs(f, function, {"count", "type", nullptr, output}, 1, v, 0, &o.size);
        for (const std::uintptr_t beyond : {packed + 1, UINTPTR_MAX})
            r.invalid(f, position + std::string(" is ") + std::to_string(beyond),
                      [&] { return function(1, v, beyond, &o.size); });
        CHECK((function(1, v, packed, &o.size) == UCD_SUCCESS && o.size == all));
        CHECK((function(0, v, 0, &o.size) == UCD_SUCCESS && o.size == 0));
    };
    refuse("ucd_element_boundary", ucd_element_boundary, "offset", "boundary", packed);
    refuse("ucd_get_elements", ucd_get_elements, "bytes", "elements", packed / sizeof(int));
}

TEST_CASE_METHOD(Refusing, "ucd_flattened_size refuses") {
    const char *const f = "ucd_flattened_size";
    const unsigned char nothing[16] = {};
    r.needs(f, ucd_flattened_size, {"flattened", nullptr, "size"}, nothing, 16, &o.size);
    r.refused(f, UCD_ERR__TRUNCATED, "available is 15",
              [&] { return ucd_flattened_size(nothing, 15, &o.size); });
    r.refused(f, UCD_ERR__CORRUPT, "flattened",
              [&] { return ucd_flattened_size(nothing, 16, &o.size); });
}

TEST_CASE_METHOD(Refusing, "ucd_iov_bytes refuses") {
    const char *const f = "ucd_iov_bytes";
    const auto call = [&](std::uintptr_t count, ucd_type_t t, std::uintptr_t offset) {
        return ucd_iov_bytes(o.data, count, t, offset, 9, o.entries, 4, &o.size, &o.other_size);
    };
    r.needs(f, ucd_iov_bytes,
            {nullptr, "count", "type", nullptr, nullptr, "iov", nullptr, "actual_iov_len",
             "actual_bytes"},
            o.data, 1, v, 0, 9, o.entries, 4, &o.size, &o.other_size);
    for (const std::uintptr_t offset : {packed + 1, UINTPTR_MAX})
        r.invalid(f, "offset is " + std::to_string(offset), [&] { return call(1, v, offset); });
    r.invalid(f, "offset is 1", [&] { return call(0, v, 1); });
    CHECK((call(1, v, packed) == UCD_SUCCESS && o.size == 0 && o.other_size == 0));
}

TEST_CASE_METHOD(Refusing, "ucd_flatten_size and ucd_flatten refuse") {
    r.needs("ucd_flatten_size", ucd_flatten_size, {"type", "size"}, v, &o.size);
    std::uintptr_t size = 0;
    REQUIRE(ucd_flatten_size(v, &size) == UCD_SUCCESS);
    REQUIRE(size < sizeof o.data);
    const char *const f = "ucd_flatten";
    r.needs(f, ucd_flatten, {"type", "flattened", nullptr}, v, o.data, size);
    for (std::uintptr_t n = 0; n < size; ++n)
        r.refused(f, UCD_ERR__TRUNCATED, "flattened_size is " + std::to_string(n),
                  [&] { return ucd_flatten(v, o.data, n); });
    r.refused(f, UCD_ERR__TRUNCATED, "flattened_size is 0",
              [&] { return ucd_flatten(v, nullptr, 0); });
}

TEST_CASE_METHOD(Refusing, "ucd_unflatten refuses") {
    std::uintptr_t size = 0;
    REQUIRE(ucd_flatten_size(v, &size) == UCD_SUCCESS);
    std::vector<unsigned char> good(size + 8, 0);
    REQUIRE(ucd_flatten(v, good.data(), size) == UCD_SUCCESS);
    const char *const f = "ucd_unflatten";
    r.needs(f, ucd_unflatten, {"newtype", "flattened", nullptr}, &o.type, good.data(), size);
    r.refused(f, UCD_ERR__CORRUPT, "", [&] { return ucd_unflatten(&o.type, nullptr, 0); });
    for (std::uintptr_t n = 0; n < good.size(); ++n)
        if (n != size)
            r.refused(f, UCD_ERR__CORRUPT, "",
                      [&] { return ucd_unflatten(&o.type, good.data(), n); });
    for (std::uintptr_t at = 0; at < size; ++at) {
        std::vector<unsigned char> bad(good.begin(),
                                       good.begin() + static_cast<std::ptrdiff_t>(size));
        bad[at] ^= 0x10;
        std::memset(static_cast<void *>(&o.type), pattern, sizeof o.type);
        const ucd_type_t before = o.type;
        const std::ptrdiff_t live = live_allocations();
        const int rc = ucd_unflatten(&o.type, bad.data(), size);
        CHECK(live_allocations() == live);
        CHECK((rc == UCD_ERR__CORRUPT || rc == UCD_ERR__NOT_SUPPORTED)); // a newer version
        CHECK(o.type == before);
    }
}

} // namespace bad_arguments_query_test
