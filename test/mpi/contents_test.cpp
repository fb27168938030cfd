// UCD types from what MPI says of how a type was built, when MPI says less or more than its
// standard does: the type is refused. No call of MPI is made.

#include "support/catch.hpp"
#include "types/build.h"
#include "types/predefined.h"

#include <string>
#include <ucd_mpi.h>

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
