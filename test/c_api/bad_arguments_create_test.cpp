// Bad arguments of the constructors and of ucd_free.
#include "c_api/refusal.hpp"

#include <vector>

namespace bad_arguments_create_test {

using namespace ucdtest;

namespace {

const std::intptr_t two[] = {1, 3}, negative[] = {1, -7};
const ucd_type_t ints[] = {int_, int_};

} // namespace

TEST_CASE_METHOD(Refusing, "ucd_create_contig refuses") {
    const char *const f = "ucd_create_contig";
    r.needs(f, ucd_create_contig, {nullptr, "oldtype", nullptr, "newtype"}, 1, int_, nullptr,
            &r.out.type);
    r.invalid(f, "count is -1", [&] { return ucd_create_contig(-1, int_, nullptr, &r.out.type); });
    r.invalid(f, "count is -9223372036854775808",
              [&] { return ucd_create_contig(INTPTR_MIN, int_, nullptr, &r.out.type); });
    r.refused(f, UCD_ERR__OVERFLOW, "size",
              [&] { return ucd_create_contig(INTPTR_MAX / 4 + 1, int_, nullptr, &r.out.type); });
}

TEST_CASE_METHOD(Refusing, "ucd_create_dup refuses") {
    r.needs("ucd_create_dup", ucd_create_dup, {"oldtype", nullptr, "newtype"}, int_, nullptr,
            &r.out.type);
}

TEST_CASE_METHOD(Refusing, "ucd_create_vector and ucd_create_hvector refuse") {
    for (const auto &[f, create] : {std::pair("ucd_create_vector", &ucd_create_vector),
                                    std::pair("ucd_create_hvector", &ucd_create_hvector)}) {
        const auto make = create; // structured bindings cannot be captured in C++20 by Clang
        r.needs(f, make, {nullptr, nullptr, nullptr, "oldtype", nullptr, "newtype"}, 1, 1, 1, int_,
                nullptr, &r.out.type);
        r.invalid(f, "count is -2", [&] { return make(-2, 1, 1, int_, nullptr, &r.out.type); });
        r.invalid(f, "blocklength is -3",
                  [&] { return make(2, -3, 1, int_, nullptr, &r.out.type); });
        // Also where nothing is repeated.
        r.invalid(f, "blocklength is -3",
                  [&] { return make(0, -3, 1, int_, nullptr, &r.out.type); });
        r.refused(f, UCD_ERR__OVERFLOW, "",
                  [&] { return make(3, 1, INTPTR_MAX, int_, nullptr, &r.out.type); });
        r.refused(f, UCD_ERR__OVERFLOW, "",
                  [&] { return make(3, 1, INTPTR_MIN, int_, nullptr, &r.out.type); });
        r.refused(f, UCD_ERR__OVERFLOW, "size",
                  [&] { return make(INTPTR_MAX, INTPTR_MAX, 0, int_, nullptr, &r.out.type); });
    }
}

TEST_CASE_METHOD(Refusing, "ucd_create_indexed_block and ucd_create_hindexed_block refuse") {
    for (const auto &[f, create] :
         {std::pair("ucd_create_indexed_block", &ucd_create_indexed_block),
          std::pair("ucd_create_hindexed_block", &ucd_create_hindexed_block)}) {
        const auto make = create;
        r.needs(f, make, {nullptr, nullptr, "displs", "oldtype", nullptr, "newtype"}, 2, 1, two,
                int_, nullptr, &r.out.type);
        r.invalid(f, "count is -1", [&] { return make(-1, 1, two, int_, nullptr, &r.out.type); });
        r.invalid(f, "blocklength is -1",
                  [&] { return make(2, -1, two, int_, nullptr, &r.out.type); });
        const std::intptr_t far[] = {INTPTR_MIN / 2, INTPTR_MAX / 2 + 2};
        r.refused(f, UCD_ERR__OVERFLOW, "bounds",
                  [&] { return make(2, 1, far, int_, nullptr, &r.out.type); });
        r.refused(f, UCD_ERR__OVERFLOW, "",
                  [&] { return make(2, INTPTR_MAX / 4, two, int_, nullptr, &r.out.type); });
    }
}

TEST_CASE_METHOD(Refusing, "ucd_create_indexed_block_ref refuses") {
    const char *const f = "ucd_create_indexed_block_ref";
    const auto make = [&](std::intptr_t count, std::intptr_t blocklength, const void *indices,
                          ucd_type_t child) {
        return ucd_create_indexed_block_ref(count, blocklength, indices, UCD_TYPE__INT64_T, 8, 0,
                                            64, child, nullptr, &r.out.type);
    };
    r.invalid(f, "count is -1", [&] { return make(-1, 1, two, int_); });
    r.invalid(f, "blocklength is -1", [&] { return make(2, -1, two, int_); });
    r.invalid(f, "indices is NULL", [&] { return make(1, 1, nullptr, UCD_TYPE__BYTE); });
    r.invalid(f, "it must be a multiple of 8",
              [&] { return make(2, 1, reinterpret_cast<const char *>(two) + 4, int_); });
}

TEST_CASE_METHOD(Refusing, "ucd_create_indexed and ucd_create_hindexed refuse") {
    for (const auto &[f, create] : {std::pair("ucd_create_indexed", &ucd_create_indexed),
                                    std::pair("ucd_create_hindexed", &ucd_create_hindexed)}) {
        const auto make = create;
        r.needs(f, make, {nullptr, "blocklengths", "displs", "oldtype", nullptr, "newtype"}, 2, two,
                two, int_, nullptr, &r.out.type);
        r.invalid(f, "count is -1", [&] { return make(-1, two, two, int_, nullptr, &r.out.type); });
        r.invalid(f, "blocklengths[1] is -7",
                  [&] { return make(2, negative, two, int_, nullptr, &r.out.type); });
        const std::intptr_t far[] = {INTPTR_MIN, INTPTR_MAX};
        r.refused(f, UCD_ERR__OVERFLOW, "bounds",
                  [&] { return make(2, two, far, int_, nullptr, &r.out.type); });
        const std::intptr_t many[] = {INTPTR_MAX / 8, INTPTR_MAX / 8 + 100};
        r.refused(f, UCD_ERR__OVERFLOW, "size",
                  [&] { return make(2, many, two, int_, nullptr, &r.out.type); });
    }
}

TEST_CASE_METHOD(Refusing, "ucd_create_struct refuses") {
    const char *const f = "ucd_create_struct";
    const auto make = [&](std::intptr_t count, const std::intptr_t *lengths,
                          const std::intptr_t *displs, const ucd_type_t *types) {
        return [this, count, lengths, displs, types] {
            return ucd_create_struct(count, lengths, displs, types, nullptr, &r.out.type);
        };
    };
    r.invalid(f, "count is -1", make(-1, two, two, ints));
    r.needs(f, ucd_create_struct, {nullptr, "blocklengths", "displs", "types", nullptr, "newtype"},
            2, two, two, ints, nullptr, &r.out.type);
    r.invalid(f, "blocklengths[1] is -7", make(2, negative, two, ints));
    r.bad_handles(f, "types[1]", [&](ucd_type_t t) {
        const ucd_type_t types[] = {int_, t};
        return make(2, two, two, types)();
    });
    // Each must be a type, also where there is none of it.
    const std::intptr_t none[] = {0, 0};
    r.bad_handles(f, "types[0]", [&](ucd_type_t t) {
        const ucd_type_t types[] = {t, int_};
        return make(2, none, two, types)();
    });
    const std::intptr_t far[] = {INTPTR_MIN, INTPTR_MAX};
    r.refused(f, UCD_ERR__OVERFLOW, "bounds", make(2, two, far, ints));
    const std::intptr_t many[] = {INTPTR_MAX / 8, INTPTR_MAX / 8 + 100};
    r.refused(f, UCD_ERR__OVERFLOW, "size", make(2, many, two, ints));
}

TEST_CASE_METHOD(Refusing, "ucd_create_resized refuses") {
    const char *const f = "ucd_create_resized";
    r.needs(f, ucd_create_resized, {"oldtype", nullptr, nullptr, nullptr, "newtype"}, int_, 0, 8,
            nullptr, &r.out.type);
    r.refused(f, UCD_ERR__OVERFLOW, "bounds",
              [&] { return ucd_create_resized(int_, 1, INTPTR_MAX, nullptr, &r.out.type); });
    r.refused(f, UCD_ERR__OVERFLOW, "bounds",
              [&] { return ucd_create_resized(int_, INTPTR_MIN, 0, nullptr, &r.out.type); });
    r.refused(f, UCD_ERR__OVERFLOW, "bounds",
              [&] { return ucd_create_resized(int_, -2, INTPTR_MIN, nullptr, &r.out.type); });
}

TEST_CASE_METHOD(Refusing, "ucd_free refuses") {
    const char *const f = "ucd_free";
    r.unknown_types(f, "*type", [&](ucd_type_t t) {
        ucd_type_t variable = t;
        const int rc = ucd_free(&variable);
        CHECK(variable == t);
        return rc;
    });
    for (std::uintptr_t value = 1; value <= 62; ++value)
        r.invalid(f, "predefined", [&] {
            ucd_type_t variable = reinterpret_cast<ucd_type_t>(value);
            const int rc = ucd_free(&variable);
            CHECK(variable == reinterpret_cast<ucd_type_t>(value));
            return rc;
        });
    const Handle derived([](ucd_type_t *t) { return ucd_create_contig(2, int_, nullptr, t); });
    ucd_type_t variable = derived;
    ucd_type_t other = UCD_TYPE__NULL;
    REQUIRE(ucd_create_dup(variable, nullptr, &other) == UCD_SUCCESS);
    REQUIRE(ucd_free(&other) == UCD_SUCCESS);
    CHECK(other == UCD_TYPE__NULL);
}

TEST_CASE("a handle is not given out again as long as a duplicate exists") {
    ucd_type_t type = UCD_TYPE__NULL, copy = UCD_TYPE__NULL;
    REQUIRE(ucd_create_contig(2, int_, nullptr, &type) == UCD_SUCCESS);
    const ucd_type_t handle = type;
    REQUIRE(ucd_create_dup(type, nullptr, &copy) == UCD_SUCCESS);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    std::vector<ucd_type_t> others(1000);
    for (ucd_type_t &other : others) {
        REQUIRE(ucd_create_contig(3, int_, nullptr, &other) == UCD_SUCCESS);
        REQUIRE(other != handle);
    }
    for (ucd_type_t &other : others) REQUIRE(ucd_free(&other) == UCD_SUCCESS);
    REQUIRE(ucd_free(&copy) == UCD_SUCCESS);
}

TEST_CASE("Constructors accept what is only unusual") {
    std::ptrdiff_t live = live_allocations();
    const auto made = [&](int rc, ucd_type_t &type) {
        CHECK(rc == UCD_SUCCESS);
        CHECK(reinterpret_cast<std::uintptr_t>(type) > 4095);
        CHECK(ucd_free(&type) == UCD_SUCCESS);
    };
    ucd_type_t t = UCD_TYPE__NULL;
    made(ucd_create_contig(0, int_, nullptr, &t), t);
    made(ucd_create_vector(0, 0, INTPTR_MIN, int_, nullptr, &t), t);
    made(ucd_create_vector(1, 1, INTPTR_MAX, int_, nullptr, &t), t);
    made(ucd_create_indexed_block(0, 5, nullptr, int_, nullptr, &t), t);
    made(ucd_create_hindexed_block(0, 5, nullptr, int_, nullptr, &t), t);
    made(
        ucd_create_indexed_block_ref(5, 0, nullptr, UCD_TYPE__INT64_T, 8, 0, 64, int_, nullptr, &t),
        t);
    made(ucd_create_indexed(0, nullptr, nullptr, int_, nullptr, &t), t);
    made(ucd_create_hindexed(0, nullptr, nullptr, int_, nullptr, &t), t);
    made(ucd_create_struct(0, nullptr, nullptr, nullptr, nullptr, &t), t);
    made(ucd_create_ndarray(0, nullptr, nullptr, int_, nullptr, &t), t);
    made(ucd_create_resized(int_, INTPTR_MAX, 0, nullptr, &t), t);
    made(ucd_create_resized(int_, 0, -INTPTR_MAX, nullptr, &t), t);
    // newtype may be the variable that held oldtype, or lie in an input array.
    REQUIRE(ucd_create_contig(3, int_, nullptr, &t) == UCD_SUCCESS);
    const ucd_type_t first = t;
    ucd_type_t copy = first;
    REQUIRE(ucd_create_contig(2, t, nullptr, &t) == UCD_SUCCESS);
    std::uintptr_t size = 0;
    CHECK((ucd_get_size(t, &size) == UCD_SUCCESS && size == 24));
    ucd_type_t types[] = {t, first};
    ucd_type_t held = t;
    REQUIRE(ucd_create_struct(2, two, two, types, nullptr, &types[1]) == UCD_SUCCESS);
    CHECK((ucd_get_size(types[1], &size) == UCD_SUCCESS && size == 24 + 3 * 12));
    for (ucd_type_t *type : {&copy, &held, &types[1]}) CHECK(ucd_free(type) == UCD_SUCCESS);
    CHECK(live_allocations() == live);
}

} // namespace bad_arguments_create_test
