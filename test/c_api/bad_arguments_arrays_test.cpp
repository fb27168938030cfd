// Bad arguments of ucd_create_subarray, ucd_create_darray and ucd_create_ndarray.
#include "c_api/refusal.hpp"

namespace bad_arguments_arrays_test {

using namespace ucdtest;

namespace {

using Dims = std::intptr_t[2];

struct Subarray {
    int ndims = 2;
    Dims sizes = {6, 8}, subsizes = {2, 3}, starts = {4, 5};
    bool no_sizes = false, no_subsizes = false, no_starts = false;
    int order = UCD_ORDER__C;
    ucd_type_t old = UCD_TYPE__INT;

    int create(ucd_type_t *type) const {
        return ucd_create_subarray(ndims, no_sizes ? nullptr : sizes,
                                   no_subsizes ? nullptr : subsizes, no_starts ? nullptr : starts,
                                   order, old, nullptr, type);
    }
};

struct Darray {
    int size = 6, rank = 3, ndims = 2;
    Dims gsizes = {10, 20}, dargs = {5, 3};
    int distribs[2] = {UCD_DISTRIBUTE__BLOCK, UCD_DISTRIBUTE__CYCLIC};
    int psizes[2] = {2, 3};
    int order = UCD_ORDER__C;
    ucd_type_t old = UCD_TYPE__INT;
    bool no_gsizes = false, no_distribs = false, no_dargs = false, no_psizes = false;

    int create(ucd_type_t *type) const {
        return ucd_create_darray(size, rank, ndims, no_gsizes ? nullptr : gsizes,
                                 no_distribs ? nullptr : distribs, no_dargs ? nullptr : dargs,
                                 no_psizes ? nullptr : psizes, order, old, nullptr, type);
    }
};

struct Ndarray {
    int ndims = 2;
    Dims shape = {3, 4}, strides = {100, 10};
    bool no_shape = false, no_strides = false;
    ucd_type_t old = UCD_TYPE__INT;

    int create(ucd_type_t *type) const {
        return ucd_create_ndarray(ndims, no_shape ? nullptr : shape, no_strides ? nullptr : strides,
                                  old, nullptr, type);
    }
};

// Refuses the arguments that `spoil` makes of good ones.
template <class Arguments>
class Spoiled {
public:
    explicit Spoiled(const char *function) : function_(function) {
        const Handle good([](ucd_type_t *t) { return Arguments{}.create(t); });
    }

    template <class Spoil>
    void operator()(std::string_view words, Spoil spoil, int status = UCD_ERR__INVALID_ARG) {
        Arguments a;
        spoil(a);
        r_.refused(function_, status, words, [&] { return a.create(&r_.out.type); });
    }
    template <class Spoil>
    void overflow(Spoil spoil) {
        (*this)("", spoil, UCD_ERR__OVERFLOW);
    }

    void handles_and_newtype() {
        r_.invalid(function_, "newtype is NULL", [&] { return Arguments{}.create(nullptr); });
        r_.bad_handles(function_, "oldtype", [&](ucd_type_t t) {
            Arguments a;
            a.old = t;
            return a.create(&r_.out.type);
        });
    }

private:
    const char *function_;
    Refusals r_;
};

} // namespace

TEST_CASE("ucd_create_subarray refuses") {
    using A = Subarray;
    Spoiled<A> bad("ucd_create_subarray");
    bad.handles_and_newtype();
    for (const int n : {0, -1, INT32_MIN})
        bad("ndims is " + std::to_string(n), [&](A &a) { a.ndims = n; });
    bad("sizes is NULL", [](A &a) { a.no_sizes = true; });
    bad("subsizes is NULL", [](A &a) { a.no_subsizes = true; });
    bad("starts is NULL", [](A &a) { a.no_starts = true; });
    for (const int order : {-1, 2, 77})
        bad("order is " + std::to_string(order), [&](A &a) { a.order = order; });
    bad("sizes[1] is -8", [](A &a) { a.sizes[1] = -8; });
    bad("subsizes[0] is -2", [](A &a) { a.subsizes[0] = -2; });
    bad("subsizes[1] is 9", [](A &a) { a.subsizes[1] = 9; });
    bad("starts[0] is -1", [](A &a) { a.starts[0] = -1; });
    bad("starts[0] is 5", [](A &a) { a.starts[0] = 5; });
    bad("starts[1] is 9223372036854775807", [](A &a) { a.starts[1] = INTPTR_MAX; });
    bad("subsizes[1] is 1", [](A &a) { a.sizes[1] = 0, a.subsizes[1] = 1; });
    bad.overflow([](A &a) { a.sizes[0] = a.sizes[1] = std::intptr_t{1} << 31; });
    bad.overflow([](A &a) { a.sizes[1] = INTPTR_MAX; });
}

TEST_CASE("ucd_create_subarray accepts sizes of 0") {
    for (const int d : {0, 1}) {
        Subarray a;
        a.sizes[d] = a.subsizes[d] = a.starts[d] = 0;
        const Handle empty([&](ucd_type_t *t) { return a.create(t); });
        std::uintptr_t size = 1;
        CHECK(ucd_get_size(empty, &size) == UCD_SUCCESS);
        CHECK(size == 0);
    }
}

TEST_CASE("an array without elements has no extent that could overflow, whatever its order") {
    constexpr std::intptr_t many = std::intptr_t{1} << 40;
    const std::intptr_t orders[][3] = {{0, many, many}, {many, 0, many}, {many, many, 0}};
    const int distribs[] = {UCD_DISTRIBUTE__BLOCK, UCD_DISTRIBUTE__CYCLIC, UCD_DISTRIBUTE__NONE};
    const std::intptr_t dargs[] = {UCD_DISTRIBUTE__DFLT_DARG, UCD_DISTRIBUTE__DFLT_DARG,
                                   UCD_DISTRIBUTE__DFLT_DARG};
    const std::intptr_t zeros[] = {0, 0, 0};
    const int psizes[] = {2, 3, 1};
    for (const auto &sizes : orders)
        for (const int order : {UCD_ORDER__C, UCD_ORDER__FORTRAN}) {
            const Handle sub([&](ucd_type_t *t) {
                return ucd_create_subarray(3, sizes, sizes, zeros, order, UCD_TYPE__INT,
                                           UCD_INFO__NULL, t);
            });
            const Handle part([&](ucd_type_t *t) {
                return ucd_create_darray(6, 4, 3, sizes, distribs, dargs, psizes, order,
                                         UCD_TYPE__INT, UCD_INFO__NULL, t);
            });
            for (const Handle *type : {&sub, &part}) {
                std::uintptr_t size = 1;
                std::intptr_t lb = 1, extent = 1;
                CHECK(ucd_get_size(*type, &size) == UCD_SUCCESS);
                CHECK(ucd_get_extent(*type, &lb, &extent) == UCD_SUCCESS);
                CHECK((size == 0 && lb == 0 && extent == 0));
            }
        }
}

TEST_CASE("ucd_create_darray refuses") {
    using A = Darray;
    Spoiled<A> bad("ucd_create_darray");
    bad.handles_and_newtype();
    for (const int n : {0, -1}) bad("ndims is " + std::to_string(n), [&](A &a) { a.ndims = n; });
    for (const int n : {0, -6}) bad("size is " + std::to_string(n), [&](A &a) { a.size = n; });
    for (const int n : {-1, 6})
        bad("rank is " + std::to_string(n) + "; it must be in 0 .. size - 1 = 5",
            [&](A &a) { a.rank = n; });
    bad("gsizes is NULL", [](A &a) { a.no_gsizes = true; });
    bad("distribs is NULL", [](A &a) { a.no_distribs = true; });
    bad("dargs is NULL", [](A &a) { a.no_dargs = true; });
    bad("psizes is NULL", [](A &a) { a.no_psizes = true; });
    bad("order is 2", [](A &a) { a.order = 2; });
    bad("gsizes[1] is -1", [](A &a) { a.gsizes[1] = -1; });
    bad("psizes[0] is 0", [](A &a) { a.psizes[0] = 0; });
    bad("psizes[1] is -3", [](A &a) { a.psizes[1] = -3; });
    bad("psizes", [](A &a) { a.psizes[1] = 4; });                   // 8 processes are not 6
    bad("psizes", [](A &a) { a.psizes[0] = a.psizes[1] = 65536; }); // nor are 2^32, or 0
    bad("psizes", [](A &a) { a.psizes[0] = INT32_MAX, a.psizes[1] = INT32_MAX; });
    for (const int d : {-1, 3})
        bad("distribs[0] is " + std::to_string(d), [&](A &a) { a.distribs[0] = d; });
    bad("psizes[0] is 2", [](A &a) { a.distribs[0] = UCD_DISTRIBUTE__NONE; });
    bad("dargs[1] is 0", [](A &a) { a.dargs[1] = 0; });
    bad("dargs[1] is -2", [](A &a) { a.dargs[1] = -2; });
    bad("dargs[0] is 4", [](A &a) { a.dargs[0] = 4; }); // 2 * 4 < 10
    bad.overflow([](A &a) { a.gsizes[1] = INTPTR_MAX; });
    bad.overflow([](A &a) {
        a.gsizes[0] = a.gsizes[1] = std::intptr_t{1} << 31;
        a.dargs[0] = std::intptr_t{1} << 30;
    });
}

TEST_CASE("ucd_create_darray accepts what owns nothing, and does not look at dargs for NONE") {
    Darray a;
    a.rank = 5;
    a.gsizes[0] = 3;
    a.dargs[0] = 5;
    const Handle nothing([&](ucd_type_t *t) { return a.create(t); });
    std::uintptr_t size = 1;
    CHECK((ucd_get_size(nothing, &size) == UCD_SUCCESS && size == 0));
    a = {};
    a.distribs[0] = UCD_DISTRIBUTE__NONE;
    a.psizes[0] = 1;
    a.size = 3;
    a.rank = 0;
    a.dargs[0] = -99;
    const Handle none([&](ucd_type_t *t) { return a.create(t); });
    CHECK((ucd_get_size(none, &size) == UCD_SUCCESS && size == 4 * 10 * 8));
    // Block sizes at the limit.
    a = {};
    a.dargs[0] = a.dargs[1] = INTPTR_MAX;
    a.rank = 0;
    const Handle all([&](ucd_type_t *t) { return a.create(t); });
    CHECK((ucd_get_size(all, &size) == UCD_SUCCESS && size == 4 * 10 * 20));
}

TEST_CASE("ucd_create_ndarray refuses") {
    using A = Ndarray;
    Spoiled<A> bad("ucd_create_ndarray");
    bad.handles_and_newtype();
    for (const int n : {-1, INT32_MIN})
        bad("ndims is " + std::to_string(n), [&](A &a) { a.ndims = n; });
    bad("shape is NULL", [](A &a) { a.no_shape = true; });
    bad("byte_strides is NULL", [](A &a) { a.no_strides = true; });
    bad("shape[0] is -3", [](A &a) { a.shape[0] = -3; });
    bad("shape[1] is -1", [](A &a) { a.shape[0] = 0, a.shape[1] = -1; }); // also in an empty one
    bad.overflow([](A &a) { a.strides[0] = INTPTR_MAX; });
    bad.overflow([](A &a) { a.strides[1] = INTPTR_MIN; });
    bad.overflow([](A &a) { a.shape[0] = INTPTR_MAX; });
    bad.overflow([](A &a) {
        a.shape[0] = a.shape[1] = std::intptr_t{1} << 31;
        a.strides[0] = a.strides[1] = 0;
    });
}

} // namespace bad_arguments_arrays_test
