// Bad arguments of what asks about types, lists their segments, and flattens them.
#include "c_api/refusal.hpp"

#include <cstring>
#include <vector>

namespace bad_arguments_query_test {

using namespace ucdtest;

namespace {

const std::uintptr_t segments = 3;

} // namespace

TEST_CASE("ucd_get_size, ucd_get_extent and ucd_get_true_extent refuse") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    r.bad_handles("ucd_get_size", "type", [&](ucd_type_t t) { return ucd_get_size(t, &o.size); });
    r.invalid("ucd_get_size", "size is NULL", [&] { return ucd_get_size(v, nullptr); });
    for (const auto &[f, get] : {std::pair("ucd_get_extent", &ucd_get_extent),
                                 std::pair("ucd_get_true_extent", &ucd_get_true_extent)}) {
        const auto ask = get;
        r.bad_handles(f, "type", [&](ucd_type_t t) { return ask(t, &o.lb, &o.extent); });
        r.invalid(f, "lb is NULL", [&] { return ask(v, nullptr, &o.extent); });
        r.invalid(f, "extent is NULL", [&] { return ask(v, &o.lb, nullptr); });
    }
}

TEST_CASE("ucd_get_layout refuses") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const char *const f = "ucd_get_layout";
    r.bad_handles(f, "type", [&](ucd_type_t t) { return ucd_get_layout(1, t, &o.layout); });
    r.invalid(f, "layout is NULL", [&] { return ucd_get_layout(1, v, nullptr); });
    r.refused(f, UCD_ERR__OVERFLOW, "count is 2305843009213693951",
              [&] { return ucd_get_layout(too_many, v, &o.layout); });
    r.refused(f, UCD_ERR__OVERFLOW, "count is",
              [&] { return ucd_get_layout(UINTPTR_MAX, v, &o.layout); });
    for (std::uint32_t n = 0; n < 4; ++n) {
        ucd_layout_t layout, before;
        std::memset(static_cast<void *>(&layout), pattern, sizeof layout);
        layout.struct_size = n;
        before = layout;
        r.invalid(f, "struct_size is " + std::to_string(n),
                  [&] { return ucd_get_layout(1, v, &layout); });
        CHECK(std::memcmp(&layout, &before, sizeof layout) == 0);
    }
}

TEST_CASE("ucd_get_advice refuses") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const char *const f = "ucd_get_advice";
    r.bad_handles(f, "type", [&](ucd_type_t t) { return ucd_get_advice(1, t, 0, 0, &o.advice); });
    r.invalid(f, "advice is NULL", [&] { return ucd_get_advice(1, v, 0, 0, nullptr); });
    for (const std::uintptr_t count : {too_many, UINTPTR_MAX})
        r.refused(f, UCD_ERR__OVERFLOW, "count is",
                  [&] { return ucd_get_advice(count, v, 0, 0, &o.advice); });
    for (std::uint32_t n = 0; n < 4; ++n) {
        ucd_advice_t advice, before;
        std::memset(static_cast<void *>(&advice), pattern, sizeof advice);
        advice.struct_size = n;
        before = advice;
        r.invalid(f, "struct_size is " + std::to_string(n),
                  [&] { return ucd_get_advice(1, v, 0, 0, &advice); });
        CHECK(std::memcmp(&advice, &before, sizeof advice) == 0);
    }
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

TEST_CASE("ucd_get_memory and ucd_describe refuse") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const char *const f = "ucd_get_memory", *const g = "ucd_describe";
    const auto memory = [&](std::uintptr_t count, ucd_type_t t, std::uintptr_t *needed) {
        return ucd_get_memory(nullptr, count, t, nullptr, o.text, sizeof o.text, needed);
    };
    r.bad_handles(f, "type", [&](ucd_type_t t) { return memory(1, t, &o.size); });
    r.invalid(f, "needed is NULL", [&] { return memory(1, v, nullptr); });
    r.refused(f, UCD_ERR__OVERFLOW, "count", [&] { return memory(too_many, v, &o.size); });
    r.bad_handles(g, "type",
                  [&](ucd_type_t t) { return ucd_describe(t, o.text, sizeof o.text, &o.size); });
    r.invalid(g, "needed is NULL", [&] { return ucd_describe(v, o.text, sizeof o.text, nullptr); });
}

TEST_CASE("Functions that fill a text tell its length, and cut nothing") {
    Refusals r;
    ucd_info_t info = UCD_INFO__NULL;
    REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
    REQUIRE(ucd_info_set(info, "of.others", "text") == UCD_SUCCESS);
    const Handle v(make_vector);
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

TEST_CASE("ucd_iov_len and ucd_iov_len_max refuse") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const char *f = "ucd_iov_len";
    r.bad_handles(f, "type", [&](ucd_type_t t) { return ucd_iov_len(1, t, &o.size); });
    r.invalid(f, "iov_len is NULL", [&] { return ucd_iov_len(1, v, nullptr); });
    r.refused(f, UCD_ERR__OVERFLOW, "count is", [&] { return ucd_iov_len(too_many, v, &o.size); });
    f = "ucd_iov_len_max";
    r.bad_handles(f, "type",
                  [&](ucd_type_t t) { return ucd_iov_len_max(1, t, 9, &o.size, &o.other_size); });
    r.invalid(f, "iov_len is NULL", [&] { return ucd_iov_len_max(1, v, 9, nullptr, &o.size); });
    r.invalid(f, "actual_iov_bytes is NULL",
              [&] { return ucd_iov_len_max(1, v, 9, &o.size, nullptr); });
    r.refused(f, UCD_ERR__OVERFLOW, "count is",
              [&] { return ucd_iov_len_max(too_many, v, 9, &o.size, &o.other_size); });
}

TEST_CASE("ucd_iov refuses") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const char *const f = "ucd_iov";
    r.bad_handles(f, "type",
                  [&](ucd_type_t t) { return ucd_iov(o.data, 1, t, 0, o.entries, 4, &o.size); });
    r.invalid(f, "iov is NULL", [&] { return ucd_iov(o.data, 1, v, 0, nullptr, 1, &o.size); });
    r.invalid(f, "actual_iov_len is NULL",
              [&] { return ucd_iov(o.data, 1, v, 0, o.entries, 4, nullptr); });
    r.refused(f, UCD_ERR__OVERFLOW, "count is",
              [&] { return ucd_iov(o.data, too_many, v, 0, o.entries, 4, &o.size); });
    for (const std::uintptr_t offset : {segments + 1, UINTPTR_MAX})
        r.invalid(f, "iov_offset is " + std::to_string(offset),
                  [&] { return ucd_iov(o.data, 1, v, offset, o.entries, 4, &o.size); });
    r.invalid(f, "iov_offset is 1",
              [&] { return ucd_iov(o.data, 0, v, 1, o.entries, 4, &o.size); });
    CHECK((ucd_iov(o.data, 1, v, segments, nullptr, 0, &o.size) == UCD_SUCCESS && o.size == 0));
}

TEST_CASE("ucd_get_boxes and ucd_get_element_runs refuse") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const auto refuse = [&](const char *f, auto function, auto *listed, const char *list,
                            const char *first, std::uintptr_t total) {
        const auto call = [&](std::uintptr_t count, ucd_type_t t, std::uintptr_t from) {
            return function(count, t, from, listed, 2, &o.size, &o.other_size);
        };
        const std::string name = list;
        r.bad_handles(f, "type", [&](ucd_type_t t) { return call(1, t, 0); });
        r.invalid(f, name + " is NULL",
                  [&] { return function(1, v, 0, nullptr, 1, &o.size, &o.other_size); });
        r.invalid(f, "actual_" + name + " is NULL",
                  [&] { return function(1, v, 0, listed, 2, nullptr, &o.other_size); });
        r.invalid(f, "total_" + name + " is NULL",
                  [&] { return function(1, v, 0, listed, 2, &o.size, nullptr); });
        r.refused(f, UCD_ERR__OVERFLOW, "count is", [&] { return call(too_many, v, 0); });
        for (const std::uintptr_t from : {total + 1, UINTPTR_MAX})
            r.invalid(f, first + (" is " + std::to_string(from)), [&] { return call(1, v, from); });
        r.invalid(f, first + std::string(" is 1"), [&] { return call(0, v, 1); });
        CHECK((call(1, v, total) == UCD_SUCCESS && o.size == 0 && o.other_size == total));
        CHECK((call(0, v, 0) == UCD_SUCCESS && o.size == 0 && o.other_size == 0));
    };
    refuse("ucd_get_boxes", ucd_get_boxes, o.boxes, "boxes", "first_box", 1);
    refuse("ucd_get_element_runs", ucd_get_element_runs, o.runs, "runs", "first_run", 1);
}

TEST_CASE("ucd_element_boundary and ucd_get_elements refuse") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const auto refuse = [&](const char *f, auto function, const char *position, const char *output,
                            std::uintptr_t all) {
        r.bad_handles(f, "type", [&](ucd_type_t t) { return function(1, t, 0, &o.size); });
        r.invalid(f, output + std::string(" is NULL"), [&] { return function(1, v, 0, nullptr); });
        r.refused(f, UCD_ERR__OVERFLOW, "count is",
                  [&] { return function(too_many, v, 0, &o.size); });
        for (const std::uintptr_t beyond : {packed + 1, UINTPTR_MAX})
            r.invalid(f, position + std::string(" is ") + std::to_string(beyond),
                      [&] { return function(1, v, beyond, &o.size); });
        CHECK((function(1, v, packed, &o.size) == UCD_SUCCESS && o.size == all));
        CHECK((function(0, v, 0, &o.size) == UCD_SUCCESS && o.size == 0));
    };
    refuse("ucd_element_boundary", ucd_element_boundary, "offset", "boundary", packed);
    refuse("ucd_get_elements", ucd_get_elements, "bytes", "elements", packed / sizeof(int));
}

TEST_CASE("ucd_flattened_size refuses") {
    Refusals r;
    auto &o = r.out;
    const char *const f = "ucd_flattened_size";
    const unsigned char nothing[16] = {};
    r.invalid(f, "flattened is NULL", [&] { return ucd_flattened_size(nullptr, 16, &o.size); });
    r.invalid(f, "size is NULL", [&] { return ucd_flattened_size(nothing, 16, nullptr); });
    r.refused(f, UCD_ERR__TRUNCATED, "available is 15",
              [&] { return ucd_flattened_size(nothing, 15, &o.size); });
    r.refused(f, UCD_ERR__CORRUPT, "flattened",
              [&] { return ucd_flattened_size(nothing, 16, &o.size); });
}

TEST_CASE("ucd_iov_bytes refuses") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const char *const f = "ucd_iov_bytes";
    const auto call = [&](std::uintptr_t count, ucd_type_t t, std::uintptr_t offset) {
        return ucd_iov_bytes(o.data, count, t, offset, 9, o.entries, 4, &o.size, &o.other_size);
    };
    r.bad_handles(f, "type", [&](ucd_type_t t) { return call(1, t, 0); });
    r.invalid(f, "iov is NULL", [&] {
        return ucd_iov_bytes(o.data, 1, v, 0, 9, nullptr, 1, &o.size, &o.other_size);
    });
    r.invalid(f, "actual_iov_len is NULL",
              [&] { return ucd_iov_bytes(o.data, 1, v, 0, 9, o.entries, 4, nullptr, &o.size); });
    r.invalid(f, "actual_bytes is NULL",
              [&] { return ucd_iov_bytes(o.data, 1, v, 0, 9, o.entries, 4, &o.size, nullptr); });
    r.refused(f, UCD_ERR__OVERFLOW, "count is", [&] { return call(too_many, v, 0); });
    for (const std::uintptr_t offset : {packed + 1, UINTPTR_MAX})
        r.invalid(f, "offset is " + std::to_string(offset), [&] { return call(1, v, offset); });
    r.invalid(f, "offset is 1", [&] { return call(0, v, 1); });
    CHECK((call(1, v, packed) == UCD_SUCCESS && o.size == 0 && o.other_size == 0));
}

TEST_CASE("ucd_flatten_size and ucd_flatten refuse") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const char *f = "ucd_flatten_size";
    r.bad_handles(f, "type", [&](ucd_type_t t) { return ucd_flatten_size(t, &o.size); });
    r.invalid(f, "size is NULL", [&] { return ucd_flatten_size(v, nullptr); });
    std::uintptr_t size = 0;
    REQUIRE(ucd_flatten_size(v, &size) == UCD_SUCCESS);
    REQUIRE(size < sizeof o.data);
    f = "ucd_flatten";
    r.bad_handles(f, "type", [&](ucd_type_t t) { return ucd_flatten(t, o.data, sizeof o.data); });
    r.invalid(f, "flattened is NULL", [&] { return ucd_flatten(v, nullptr, size); });
    for (std::uintptr_t n = 0; n < size; ++n)
        r.refused(f, UCD_ERR__TRUNCATED, "flattened_size is " + std::to_string(n),
                  [&] { return ucd_flatten(v, o.data, n); });
    r.refused(f, UCD_ERR__TRUNCATED, "flattened_size is 0",
              [&] { return ucd_flatten(v, nullptr, 0); });
}

TEST_CASE("ucd_unflatten refuses") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    std::uintptr_t size = 0;
    REQUIRE(ucd_flatten_size(v, &size) == UCD_SUCCESS);
    std::vector<unsigned char> good(size + 8, 0);
    REQUIRE(ucd_flatten(v, good.data(), size) == UCD_SUCCESS);
    const char *const f = "ucd_unflatten";
    r.invalid(f, "newtype is NULL", [&] { return ucd_unflatten(nullptr, good.data(), size); });
    r.invalid(f, "flattened is NULL", [&] { return ucd_unflatten(&o.type, nullptr, size); });
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
