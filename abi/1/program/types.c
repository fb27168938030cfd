/* Constructors: each type packs what it packed then. */
#include "check.h"

static const int numbers[24] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};

#define PACKS(type, ...)                                                    \
    do {                                                                    \
        const int wanted[] = {__VA_ARGS__};                                 \
        expect_packed(numbers, 1, (type), wanted, sizeof wanted, __LINE__); \
    } while (0)

void check_constructors(void) {
    const intptr_t displs[] = {4, 0}, lengths[] = {1, 2}, bytes[] = {16, 0};
    const ucd_type_t types[] = {UCD_TYPE__INT, UCD_TYPE__UNSIGNED};
    const int64_t indices[] = {3, 1};
    ucd_type_t type = UCD_TYPE__NULL, dup = UCD_TYPE__NULL;
    intptr_t lb = -1, extent = -1;
    SUCCEEDS(ucd_create_contig(2, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    SUCCEEDS(ucd_create_dup(type, UCD_INFO__NULL, &dup));
    EXPECT(dup != type);
    PACKS(type, 0, 1);
    PACKS(dup, 0, 1);
    SUCCEEDS(ucd_create_vector(2, 1, 3, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 0, 3);
    SUCCEEDS(ucd_create_hvector(2, 1, 20, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 0, 5);
    SUCCEEDS(ucd_create_indexed_block(2, 2, displs, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 4, 5, 0, 1);
    SUCCEEDS(ucd_create_hindexed_block(2, 1, bytes, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 4, 0);
    SUCCEEDS(ucd_create_indexed(2, lengths, displs, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 4, 0, 1);
    SUCCEEDS(ucd_create_hindexed(2, lengths, bytes, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 4, 0, 1);
    SUCCEEDS(ucd_create_struct(2, lengths, bytes, types, UCD_INFO__NULL, &type));
    PACKS(type, 4, 0, 1);
    SUCCEEDS(ucd_create_indexed_block_ref(2, 1, indices, UCD_TYPE__INT64_T, 8, 0, 96, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 6, 2);
    SUCCEEDS(ucd_create_resized(UCD_TYPE__INT, -4, 12, UCD_INFO__NULL, &type));
    SUCCEEDS(ucd_get_extent(type, &lb, &extent));
    EXPECT(lb == -4 && extent == 12);
    SUCCEEDS(ucd_get_true_extent(type, &lb, &extent));
    EXPECT(lb == 0 && extent == 4);
    SUCCEEDS(ucd_free(&type));
}

void check_arrays(void) {
    const intptr_t sizes[] = {4, 6}, subsizes[] = {2, 1}, starts[] = {1, 2}, strides[] = {-24, 8}, none[] = {0, 0};
    const intptr_t shape[] = {2, 2}, dargs[] = {UCD_DISTRIBUTE__DFLT_DARG, 2, UCD_DISTRIBUTE__DFLT_DARG};
    const intptr_t gsizes[] = {4, 3, 2};
    const int distribs[] = {UCD_DISTRIBUTE__BLOCK, UCD_DISTRIBUTE__CYCLIC, UCD_DISTRIBUTE__NONE}, psizes[] = {2, 2, 1};
    ucd_type_t type = UCD_TYPE__NULL;
    SUCCEEDS(ucd_create_subarray(2, sizes, subsizes, starts, UCD_ORDER__C, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 8, 14);
    SUCCEEDS(ucd_create_subarray(2, sizes, subsizes, starts, UCD_ORDER__FORTRAN, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 9, 10);
    SUCCEEDS(ucd_create_darray(4, 1, 3, gsizes, distribs, dargs, psizes, UCD_ORDER__C, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    PACKS(type, 4, 5, 10, 11);
    SUCCEEDS(ucd_create_ndarray(2, shape, strides, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    {
        const int wanted[] = {6, 8, 0, 2};
        expect_packed(numbers + 6, 1, type, wanted, sizeof wanted, __LINE__);
    }
    EXPECT_STATUS(UCD_ERR__INVALID_ARG,
                  ucd_create_subarray(2, sizes, subsizes, none, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type));
}
