/* Compiled with -DCALLER=program_caller or library_caller, and with -DSTRIDE for a layout of its
 * own. */
#include "caller.h"

#include <ucd.h>

#include <stdio.h>
#include <stdlib.h>

enum { elements = 1000, rounds = 40 };

static ucd_type_t column;

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "caller with stride %d: %s: %s\n", STRIDE, what, ucd_last_error());
    exit(1);
}

static void start(void) {
    require(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS, "ucd_init");
    require(ucd_create_vector(elements, 1, STRIDE, UCD_TYPE__INT, UCD_INFO__NULL, &column) ==
                UCD_SUCCESS,
            "ucd_create_vector");
}

static void use(void) {
    static int input[elements * STRIDE];
    for (int round = 0; round < rounds; ++round) {
        int output[elements] = {0}, back[2 * STRIDE + 1] = {0};
        uintptr_t moved = 0, size = 0;
        ucd_type_t several = UCD_TYPE__NULL;
        require(ucd_pack(input, 1, column, 0, output, sizeof output, &moved, UCD_INFO__NULL,
                         UCD_OP__REPLACE) == UCD_SUCCESS,
                "ucd_pack");
        require(moved == sizeof output, "how much was packed");
        require(ucd_create_vector(3, 1, STRIDE, UCD_TYPE__INT, UCD_INFO__NULL, &several) ==
                    UCD_SUCCESS,
                "ucd_create_vector");
        require(ucd_get_size(several, &size) == UCD_SUCCESS && size == 3 * sizeof(int), "the size");
        const int packed[] = {1, 2, 3};
        require(ucd_unpack(packed, sizeof packed, back, 1, several, 0, &moved, UCD_INFO__NULL,
                           UCD_OP__REPLACE) == UCD_SUCCESS,
                "ucd_unpack");
        require(back[0] == 1 && back[STRIDE] == 2 && back[2 * STRIDE] == 3, "what was unpacked");
        require(ucd_free(&several) == UCD_SUCCESS, "ucd_free");
    }
}

static void end(void) {
    require(ucd_free(&column) == UCD_SUCCESS, "ucd_free");
    require(ucd_finalize() == UCD_SUCCESS, "ucd_finalize");
}

static const void *copy(void) {
    return (const void *)(uintptr_t)&ucd_pack;
}

static int is_initialised(void) {
    uintptr_t size;
    return ucd_get_size(UCD_TYPE__INT, &size) != UCD_ERR__NOT_INITIALIZED;
}

static void *type(void) {
    return column;
}

static const char *refusal(void *of_other) {
    uintptr_t size;
    const int status = ucd_get_size((ucd_type_t)of_other, &size);
    if (status == UCD_SUCCESS) return NULL;
    require(status == UCD_ERR__INVALID_ARG, "the status for a handle of another copy");
    return ucd_last_error();
}

__attribute__((visibility("default"))) const caller_t *CALLER(void) {
    static const caller_t functions = {start, use, end, copy, is_initialised, type, refusal};
    return &functions;
}
