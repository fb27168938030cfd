/*
 * What ucd.h and ucd_memory.h fix for the ABI: constants, sizes and offsets, and the handles of
 * predefined types. C and C++ each compile it.
 */
#pragma once

#include <ucd.h>
#include <ucd_memory.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PIN(expression, value) static_assert((expression) == (value), #expression)

/* Statuses, operations and other constants are ABI. */
PIN(UCD_SUCCESS, 0);
PIN(UCD_ERR__INVALID_ARG, 1);
PIN(UCD_ERR__OUT_OF_MEM, 2);
PIN(UCD_ERR__NOT_SUPPORTED, 3);
PIN(UCD_ERR__NOT_INITIALIZED, 4);
PIN(UCD_ERR__OVERFLOW, 5);
PIN(UCD_ERR__CORRUPT, 6);
PIN(UCD_ERR__TRUNCATED, 7);
PIN(UCD_ERR__DEVICE, 8);
PIN(UCD_ERR__INTERNAL, 9);
PIN(UCD_MEMORY__DEVICE, 0);
PIN(UCD_MEMORY__PINNED, 1);
PIN(sizeof(ucd_ipc_handle_t), 128);
PIN(UCD_OP__REPLACE, 0);
PIN(UCD_OP__MAX, 1);
PIN(UCD_OP__MIN, 2);
PIN(UCD_OP__SUM, 3);
PIN(UCD_OP__PROD, 4);
PIN(UCD_OP__LAND, 5);
PIN(UCD_OP__LOR, 6);
PIN(UCD_OP__LXOR, 7);
PIN(UCD_OP__BAND, 8);
PIN(UCD_OP__BOR, 9);
PIN(UCD_OP__BXOR, 10);
PIN(UCD_OP__MAXLOC, 11);
PIN(UCD_OP__MINLOC, 12);
PIN(UCD_OP__CONVERT, 13);
PIN(UCD_OP__CONVERT_SAT, 14);
PIN(UCD_ORDER__C, 0);
PIN(UCD_ORDER__FORTRAN, 1);
PIN(UCD_LAYOUT__BY_REFERENCE, 1);
PIN(UCD_FORM__CONTIG, 0);
PIN(UCD_FORM__IOV, 1);
PIN(UCD_FORM__BOXES, 2);
PIN(UCD_FORM__PACK, 3);
PIN(UCD_DISTRIBUTE__BLOCK, 0);
PIN(UCD_DISTRIBUTE__CYCLIC, 1);
PIN(UCD_DISTRIBUTE__NONE, 2);
PIN(UCD_DISTRIBUTE__DFLT_DARG, -1);
PIN(UCD_VERSION_MAJOR, 1);
PIN(UCD_VERSION_MINOR, 0);
PIN(UCD_VERSION_PATCH, 0);
PIN(sizeof(ucd_op_t), sizeof(int));

/* No pointers in it: the same everywhere. */
PIN(sizeof(ucd_advice_t), 40);
PIN(offsetof(ucd_advice_t, struct_size), 0);
PIN(offsetof(ucd_advice_t, form), 4);
PIN(offsetof(ucd_advice_t, segments), 8);
PIN(offsetof(ucd_advice_t, boxes), 16);
PIN(offsetof(ucd_advice_t, bytes), 24);
PIN(offsetof(ucd_advice_t, mean_segment), 32);
PIN(sizeof(ucd_backend_desc_t), 316);
PIN(offsetof(ucd_backend_desc_t, struct_size), 0);
PIN(offsetof(ucd_backend_desc_t, available), 4);
PIN(offsetof(ucd_backend_desc_t, devices), 8);
PIN(offsetof(ucd_backend_desc_t, name), 12);
PIN(offsetof(ucd_backend_desc_t, version), 28);
PIN(offsetof(ucd_backend_desc_t, reason), 60);

#if UINTPTR_MAX == UINT64_MAX
PIN(sizeof(ucd_layout_t), 152);
PIN(offsetof(ucd_layout_t, struct_size), 0);
PIN(offsetof(ucd_layout_t, contiguous), 4);
PIN(offsetof(ucd_layout_t, box_dims), 8);
PIN(offsetof(ucd_layout_t, flags), 12);
PIN(offsetof(ucd_layout_t, bytes), 16);
PIN(offsetof(ucd_layout_t, segments), 24);
PIN(offsetof(ucd_layout_t, min_segment), 32);
PIN(offsetof(ucd_layout_t, max_segment), 40);
PIN(offsetof(ucd_layout_t, low), 48);
PIN(offsetof(ucd_layout_t, high), 56);
PIN(offsetof(ucd_layout_t, element), 64);
PIN(offsetof(ucd_layout_t, box_start), 72);
PIN(offsetof(ucd_layout_t, box_stride), 80);
PIN(offsetof(ucd_layout_t, box_block), 112);
PIN(offsetof(ucd_layout_t, box_count), 120);

PIN(sizeof(ucd_move_t), 120);
PIN(offsetof(ucd_move_t, inbuf), 0);
PIN(offsetof(ucd_move_t, incount), 8);
PIN(offsetof(ucd_move_t, intype), 16);
PIN(offsetof(ucd_move_t, inoffset), 24);
PIN(offsetof(ucd_move_t, outbuf), 32);
PIN(offsetof(ucd_move_t, outcount), 40);
PIN(offsetof(ucd_move_t, outtype), 48);
PIN(offsetof(ucd_move_t, outoffset), 56);
PIN(offsetof(ucd_move_t, bytes), 64);
PIN(offsetof(ucd_move_t, actual_bytes), 72);
PIN(offsetof(ucd_move_t, consumed_bytes), 80);
PIN(offsetof(ucd_move_t, reserved), 88);

PIN(sizeof(ucd_box_t), 96);
PIN(offsetof(ucd_box_t, start), 0);
PIN(offsetof(ucd_box_t, block), 8);
PIN(offsetof(ucd_box_t, offset), 16);
PIN(offsetof(ucd_box_t, count), 24);
PIN(offsetof(ucd_box_t, stride), 56);
PIN(offsetof(ucd_box_t, dims), 88);
PIN(offsetof(ucd_box_t, reserved), 92);
PIN(sizeof(ucd_element_run_t), 40);
PIN(offsetof(ucd_element_run_t, element), 0);
PIN(offsetof(ucd_element_run_t, element_bytes), 8);
PIN(offsetof(ucd_element_run_t, elements), 16);
PIN(offsetof(ucd_element_run_t, offset), 24);
PIN(offsetof(ucd_element_run_t, reserved), 32);
PIN(sizeof(ucd_stream_t), 40);
PIN(offsetof(ucd_stream_t, backend), 0);
PIN(offsetof(ucd_stream_t, device), 8);
PIN(offsetof(ucd_stream_t, native), 16);
PIN(offsetof(ucd_stream_t, context), 24);
PIN(offsetof(ucd_stream_t, reserved), 32);
#endif

/* Constants for static initialisers, too. */
static const struct {
    ucd_type_t type;
    uintptr_t value;
} predefined[] = {
    {UCD_TYPE__NULL, 0},
    {UCD_TYPE___BOOL, 1},
    {UCD_TYPE__CHAR, 2},
    {UCD_TYPE__SIGNED_CHAR, 3},
    {UCD_TYPE__UNSIGNED_CHAR, 4},
    {UCD_TYPE__WCHAR_T, 5},
    {UCD_TYPE__BYTE, 6},
    {UCD_TYPE__SHORT, 7},
    {UCD_TYPE__UNSIGNED_SHORT, 8},
    {UCD_TYPE__INT, 9},
    {UCD_TYPE__UNSIGNED, 10},
    {UCD_TYPE__LONG, 11},
    {UCD_TYPE__UNSIGNED_LONG, 12},
    {UCD_TYPE__LONG_LONG, 13},
    {UCD_TYPE__UNSIGNED_LONG_LONG, 14},
    {UCD_TYPE__INT8_T, 15},
    {UCD_TYPE__INT16_T, 16},
    {UCD_TYPE__INT32_T, 17},
    {UCD_TYPE__INT64_T, 18},
    {UCD_TYPE__UINT8_T, 19},
    {UCD_TYPE__UINT16_T, 20},
    {UCD_TYPE__UINT32_T, 21},
    {UCD_TYPE__UINT64_T, 22},
    {UCD_TYPE__INT_FAST8_T, 23},
    {UCD_TYPE__INT_FAST16_T, 24},
    {UCD_TYPE__INT_FAST32_T, 25},
    {UCD_TYPE__INT_FAST64_T, 26},
    {UCD_TYPE__UINT_FAST8_T, 27},
    {UCD_TYPE__UINT_FAST16_T, 28},
    {UCD_TYPE__UINT_FAST32_T, 29},
    {UCD_TYPE__UINT_FAST64_T, 30},
    {UCD_TYPE__INT_LEAST8_T, 31},
    {UCD_TYPE__INT_LEAST16_T, 32},
    {UCD_TYPE__INT_LEAST32_T, 33},
    {UCD_TYPE__INT_LEAST64_T, 34},
    {UCD_TYPE__UINT_LEAST8_T, 35},
    {UCD_TYPE__UINT_LEAST16_T, 36},
    {UCD_TYPE__UINT_LEAST32_T, 37},
    {UCD_TYPE__UINT_LEAST64_T, 38},
    {UCD_TYPE__INTMAX_T, 39},
    {UCD_TYPE__UINTMAX_T, 40},
    {UCD_TYPE__SIZE_T, 41},
    {UCD_TYPE__INTPTR_T, 42},
    {UCD_TYPE__UINTPTR_T, 43},
    {UCD_TYPE__PTRDIFF_T, 44},
    {UCD_TYPE__FLOAT16, 45},
    {UCD_TYPE__BFLOAT16, 46},
    {UCD_TYPE__FLOAT, 47},
    {UCD_TYPE__DOUBLE, 48},
    {UCD_TYPE__LONG_DOUBLE, 49},
    {UCD_TYPE__C_COMPLEX, 50},
    {UCD_TYPE__C_DOUBLE_COMPLEX, 51},
    {UCD_TYPE__C_LONG_DOUBLE_COMPLEX, 52},
    {UCD_TYPE__FLOAT_INT, 53},
    {UCD_TYPE__DOUBLE_INT, 54},
    {UCD_TYPE__LONG_INT, 55},
    {UCD_TYPE__2INT, 56},
    {UCD_TYPE__SHORT_INT, 57},
    {UCD_TYPE__LONG_DOUBLE_INT, 58},
    {UCD_TYPE__2FLOAT, 59},
    {UCD_TYPE__2DOUBLE, 60},
    {UCD_TYPE__FLOAT8_E4M3, 61},
    {UCD_TYPE__FLOAT8_E5M2, 62},
};
PIN(sizeof predefined / sizeof *predefined, 63);

/* Whether the initialiser of moves sets more than the limit of bytes, or another one. */
static inline int wrong_initialiser(void) {
    static const ucd_move_t made = UCD_MOVE__INIT;
    ucd_move_t move;
    memset(&move, 0, sizeof move);
    move.bytes = UINTPTR_MAX;
    return memcmp(&made, &move, sizeof move) != 0;
}

/* The number of handles whose value is not the one that the ABI fixes. */
static inline int wrong_handles(void) {
    int wrong = 0;
    for (size_t i = 0; i < sizeof predefined / sizeof *predefined; ++i)
        wrong += (uintptr_t)predefined[i].type != predefined[i].value || predefined[i].value != i;
    return wrong;
}
