// UCD types from what MPI says of how a type was built, when MPI says less or more than its
// standard does: the type is refused. Also what is known of a type after its conversion.

#include "c_api/allocations.hpp"
#include "mpi/mpi_build.hpp"
#include "support/catch.hpp"
#include "types/build.h"
#include "types/convert.h"
#include "types/predefined.h"

#include <dlfcn.h>
#include <string>
#include <ucd_mpi.h>

namespace {

int handles = 0; // that MPI has given out, and that were not freed

template <class Function>
Function *next_of(const char *name) {
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

// Predefined types are not to be freed.
void count_handles(int rc, const MPI_Datatype *types, MPI_Count number) {
    for (MPI_Count i = 0; rc == MPI_SUCCESS && i < number; ++i) {
        int ints = 0, addresses = 0, datatypes = 0, combiner = MPI_COMBINER_NAMED;
        PMPI_Type_get_envelope(types[i], &ints, &addresses, &datatypes, &combiner);
        handles += combiner != MPI_COMBINER_NAMED;
    }
}

} // namespace

// These take the place of MPI's functions, since the program comes first in the order of libraries.
extern "C" {

int PMPI_Type_get_contents(MPI_Datatype datatype, int ints, int addresses, int datatypes,
                           int *int_array, MPI_Aint *address_array, MPI_Datatype *types) {
    static auto *const next = next_of<decltype(PMPI_Type_get_contents)>("PMPI_Type_get_contents");
    const int rc = next(datatype, ints, addresses, datatypes, int_array, address_array, types);
    count_handles(rc, types, datatypes);
    return rc;
}

#if MPI_VERSION >= 4
int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count ints, MPI_Count addresses,
                             MPI_Count counts, MPI_Count datatypes, int *int_array,
                             MPI_Aint *address_array, MPI_Count *count_array, MPI_Datatype *types) {
    static auto *const next =
        next_of<decltype(PMPI_Type_get_contents_c)>("PMPI_Type_get_contents_c");
    const int rc = next(datatype, ints, addresses, counts, datatypes, int_array, address_array,
                        count_array, types);
    count_handles(rc, types, datatypes);
    return rc;
}
#endif

int PMPI_Type_free(MPI_Datatype *datatype) {
    static auto *const next = next_of<decltype(PMPI_Type_free)>("PMPI_Type_free");
    --handles;
    return next(datatype);
}

} // extern "C"

namespace contents_test {

using ucd_mpi::build_derived;
using ucd_mpi::Contents;

namespace {

struct Known {
    const char *name;
    int combiner;
    std::vector<std::intptr_t> numbers;
    std::uintptr_t size; // of the type with ints
};

std::vector<Known> all_known() {
    return {
        {"contiguous", MPI_COMBINER_CONTIGUOUS, {3}, 12},
        {"vector", MPI_COMBINER_VECTOR, {3, 2, 5}, 24},
        {"hvector", MPI_COMBINER_HVECTOR, {3, 2, 20}, 24},
        {"indexed", MPI_COMBINER_INDEXED, {2, 1, 2, 0, 4}, 12},
        {"hindexed", MPI_COMBINER_HINDEXED, {2, 1, 2, 0, 16}, 12},
        {"indexed_block", MPI_COMBINER_INDEXED_BLOCK, {2, 3, 0, 4}, 24},
        {"hindexed_block", MPI_COMBINER_HINDEXED_BLOCK, {2, 3, 0, 16}, 24},
        {"struct", MPI_COMBINER_STRUCT, {1, 2, 8}, 8},
        {"subarray", MPI_COMBINER_SUBARRAY, {2, 4, 5, 2, 3, 1, 1, MPI_ORDER_C}, 24},
        {"darray",
         MPI_COMBINER_DARRAY,
         {1, 0, 1, 4, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, 1, MPI_ORDER_C},
         16},
        {"resized", MPI_COMBINER_RESIZED, {0, 16}, 4},
    };
}

int build(int combiner, const std::vector<std::intptr_t> &numbers, std::size_t children,
          ucd_type_t &type) {
    Contents contents;
    contents.combiner = combiner;
    contents.numbers = numbers;
    return build_derived(contents, std::vector<ucd_type_t>(children, UCD_TYPE__INT), type);
}

void check_refused(int combiner, const std::vector<std::intptr_t> &numbers,
                   std::size_t children = 1) {
    ucd_type_t type = UCD_TYPE__NULL;
    CHECK(build(combiner, numbers, children, type) == UCD_ERR__NOT_SUPPORTED);
    CHECK(std::string(ucd_mpi_last_error()) ==
          "MPI gave other arguments of combiner " + std::to_string(combiner) + " than expected");
    CHECK(type == UCD_TYPE__NULL);
}

} // namespace

TEST_CASE("arguments of each constructor of MPI") {
    for (const Known &known : all_known()) {
        INFO(known.name);
        ucd_type_t type = UCD_TYPE__NULL;
        REQUIRE(build(known.combiner, known.numbers, 1, type) == UCD_SUCCESS);
        std::uintptr_t size = 0;
        REQUIRE(ucd_get_size(type, &size) == UCD_SUCCESS);
        CHECK(size == known.size);
        CHECK(ucd_free(&type) == UCD_SUCCESS);
    }
}

TEST_CASE("too few or too many arguments of a constructor of MPI are refused") {
    for (const Known &known : all_known()) {
        INFO(known.name);
        std::vector<std::intptr_t> numbers = known.numbers;
        numbers.push_back(0);
        check_refused(known.combiner, numbers);
        for (numbers = known.numbers; !numbers.empty();) {
            numbers.pop_back();
            check_refused(known.combiner, numbers);
        }
        check_refused(known.combiner, known.numbers, 0);
        check_refused(known.combiner, known.numbers, 2);
    }
}

TEST_CASE("lists of MPI that are longer than all its arguments are refused") {
    constexpr std::intptr_t many = std::intptr_t{1} << 40;
    for (const std::intptr_t entries : {many, std::intptr_t{-1}}) {
        for (const int combiner : {MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED})
            check_refused(combiner, {entries});
        for (const int combiner : {MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK})
            check_refused(combiner, {entries, 1});
        check_refused(MPI_COMBINER_STRUCT, {entries});
        check_refused(MPI_COMBINER_SUBARRAY, {entries, MPI_ORDER_C});
        check_refused(MPI_COMBINER_DARRAY, {1, 0, entries, MPI_ORDER_C});
    }
}

TEST_CASE("bounds are equal if both of them are") {
    const ucd_mpi::Bounds bounds{4, 12};
    CHECK(bounds == ucd_mpi::Bounds{4, 12});
    CHECK_FALSE(bounds == ucd_mpi::Bounds{0, 12});
    CHECK_FALSE(bounds == ucd_mpi::Bounds{4, 16});
}

TEST_CASE("a combiner that no MPI has is refused") {
    ucd_type_t type = UCD_TYPE__NULL;
    CHECK(build(987654, {1}, 1, type) == UCD_ERR__NOT_SUPPORTED);
    CHECK(std::string(ucd_mpi_last_error()) == "combiner 987654 is not known");
}

// A type that MPI says is predefined, and that UCD does not know, is moved as its bytes, which is
// right only if there are no others between them.
TEST_CASE("an unknown predefined type is its bytes, or is refused because of its gaps") {
    ucdtest::start_mpi();
    const auto built = [](auto make) {
        MPI_Datatype datatype = MPI_DATATYPE_NULL;
        REQUIRE(make(&datatype) == MPI_SUCCESS);
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_mpi::build_predefined(datatype, Contents(), type);
        CHECK((type == UCD_TYPE__NULL) == (rc != UCD_SUCCESS));
        std::uintptr_t size = 0;
        if (rc == UCD_SUCCESS) {
            CHECK(ucd_get_size(type, &size) == UCD_SUCCESS);
            CHECK(ucd_free(&type) == UCD_SUCCESS);
        } else {
            CHECK(rc == UCD_ERR__NOT_SUPPORTED);
            CHECK(std::string(ucd_mpi_last_error()) ==
                  "a predefined type of 12 bytes is not known");
        }
        MPI_Type_free(&datatype);
        return rc == UCD_SUCCESS ? static_cast<int>(size) : -1;
    };
    const MPI_Aint at_end[] = {4};
    CHECK(built([](MPI_Datatype *made) { return MPI_Type_contiguous(3, MPI_INT, made); }) == 12);
    CHECK(built([](MPI_Datatype *made) { return MPI_Type_contiguous(0, MPI_INT, made); }) == 0);
    CHECK(built([](MPI_Datatype *made) { return MPI_Type_vector(3, 1, 2, MPI_INT, made); }) == -1);
    CHECK(built([&](MPI_Datatype *made) {
              return MPI_Type_create_hindexed_block(1, 3, at_end, MPI_INT, made);
          }) == -1);
}

// Every allocation of a conversion fails once.
TEST_CASE("a conversion that runs out of memory leaks nothing") {
    ucdtest::start_mpi();
    MPI_Datatype vector = MPI_DATATYPE_NULL, block = MPI_DATATYPE_NULL, made = MPI_DATATYPE_NULL;
    MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &vector);
    MPI_Type_create_resized(MPI_INT, -4, 16, &block);
    const int ones[] = {1, 2, 1};
    const MPI_Aint displs[] = {0, 400, 900};
    const MPI_Datatype members[] = {vector, block, MPI_CHAR};
    bool none_failed = false;
    // The first time without failures, for what is made once.
    for (std::size_t n = 0; !none_failed; ++n) {
        REQUIRE(n < 10000);
        INFO("allocation " << n);
        const std::ptrdiff_t live = ucdtest::live_allocations();
        MPI_Type_create_struct(3, ones, displs, members, &made);
        handles = 0;
        ucd_type_t type = UCD_TYPE__NULL;
        ucdtest::fail_allocation(n);
        const int rc = ucd_type_from_mpi(made, UCD_INFO__NULL, &type);
        none_failed = ucdtest::end_failing();
        REQUIRE((rc == UCD_SUCCESS || rc == UCD_ERR__OUT_OF_MEM));
        REQUIRE((type != UCD_TYPE__NULL) == (rc == UCD_SUCCESS));
        if (rc == UCD_SUCCESS) REQUIRE(ucd_free(&type) == UCD_SUCCESS);
        MPI_Type_free(&made);
        REQUIRE(handles == 0);
        if (n > 0) REQUIRE(ucdtest::live_allocations() == live);
    }
    MPI_Type_free(&vector);
    MPI_Type_free(&block);
}

TEST_CASE("a type's steps are those of its loops and lists, but not of what is one block") {
    ucdtest::start_mpi();
    const auto check = [](MPI_Datatype &datatype, std::uint64_t steps, std::size_t longest_list) {
        ucd_mpi::Converted converted;
        REQUIRE(ucd_mpi::convert(datatype, converted) == UCD_SUCCESS);
        CHECK(converted.steps == steps);
        CHECK(converted.longest_list == longest_list);
        MPI_Type_free(&datatype);
    };
    MPI_Datatype made = MPI_DATATYPE_NULL, block = MPI_DATATYPE_NULL, loop = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(100, MPI_INT, &block);
    MPI_Type_vector(5, 1, 2, MPI_INT, &loop);
    const int sizes[] = {40, 50}, parts[] = {20, 30}, starts[] = {1, 1}, displs[] = {0, 300, 900};

    MPI_Type_dup(block, &made);
    check(made, 0, 1);
    MPI_Type_contiguous(3, block, &made);
    check(made, 0, 1);
    MPI_Type_vector(7, 2, 4, block, &made);
    check(made, 7, 3);
    MPI_Type_contiguous(3, loop, &made);
    check(made, 3 + 5, 3);
    MPI_Type_create_resized(loop, 0, 400, &made);
    check(made, 5, 3);
    MPI_Type_create_indexed_block(3, 1, displs, loop, &made);
    check(made, 3 + 5, 5);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made);
    check(made, 20, 8);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &made);
    check(made, 30, 8);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, loop, &made);
    check(made, 20 + 30 + 5, 8);
    check(block, 0, 1);
    check(loop, 5, 3);
}

TEST_CASE("types of Fortran by their sizes") {
    using namespace ucd_mpi;
    CHECK(integer_of(1) == UCD_TYPE__INT8_T);
    CHECK(integer_of(2) == UCD_TYPE__INT16_T);
    CHECK(integer_of(4) == UCD_TYPE__INT32_T);
    CHECK(integer_of(8) == UCD_TYPE__INT64_T);
    CHECK(real_of(2) == UCD_TYPE__FLOAT16);
    CHECK(real_of(4) == UCD_TYPE__FLOAT);
    CHECK(real_of(8) == UCD_TYPE__DOUBLE);
    CHECK(complex_of(8) == UCD_TYPE__C_COMPLEX);
    CHECK(complex_of(16) == UCD_TYPE__C_DOUBLE_COMPLEX);
    for (const long long bytes : {-1, 0, 3, 5, 7, 9, 12, 32}) {
        CHECK(integer_of(bytes) == UCD_TYPE__NULL);
        CHECK(real_of(bytes) == UCD_TYPE__NULL);
        CHECK(complex_of(bytes) == UCD_TYPE__NULL);
    }
}

} // namespace contents_test
