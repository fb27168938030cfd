#include "layout.h"

#include "fail.h"

#include <stdint.h>
#include <stdlib.h>

const char *const layout_names[LAYOUTS] = {"vector", "indexed", "contiguous-to-vector",
                                           "transpose"};

static const size_t unit = sizeof(double);

static void make_contiguous(size_t doubles, struct side_layout *side) {
    ucd(ucd_create_contig((intptr_t)doubles, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &side->type));
    side->memory = doubles * unit;
}

static void make_vector(size_t doubles, size_t block, size_t stride, struct side_layout *side) {
    const size_t count = doubles / block;
    ucd(ucd_create_vector((intptr_t)count, (intptr_t)block, (intptr_t)stride, UCD_TYPE__DOUBLE,
                          UCD_INFO__NULL, &side->type));
    side->memory = count * stride * unit;
}

/* Blocks of 8 to 64 doubles with gaps of 1 to 16 between them, the same in both processes. */
static void make_indexed(size_t doubles, struct side_layout *side) {
    intptr_t *lengths = allocated(malloc((doubles / 8 + 1) * sizeof *lengths));
    intptr_t *places = allocated(malloc((doubles / 8 + 1) * sizeof *places));
    uint32_t random = 12345;
    size_t count = 0, at = 0;
    for (size_t left = doubles; left > 0; ++count) {
        random = random * 1664525 + 1013904223;
        size_t length = 8 + (random >> 20) % 57;
        if (length > left) length = left;
        lengths[count] = (intptr_t)length;
        places[count] = (intptr_t)at;
        left -= length;
        at += length + 1 + (random >> 8) % 16;
    }
    ucd(ucd_create_indexed((intptr_t)count, lengths, places, UCD_TYPE__DOUBLE, UCD_INFO__NULL,
                           &side->type));
    side->memory = at * unit;
    free(lengths);
    free(places);
}

/* The columns of a square matrix, one after the other: vectors whose blocks are single doubles. */
static void make_columns(size_t edge, struct side_layout *side) {
    ucd_type_t column, narrow;
    const intptr_t n = (intptr_t)edge;
    ucd(ucd_create_vector(n, 1, n, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &column));
    ucd(ucd_create_resized(column, 0, (intptr_t)unit, UCD_INFO__NULL, &narrow));
    ucd(ucd_create_contig(n, narrow, UCD_INFO__NULL, &side->type));
    ucd(ucd_free(&narrow));
    ucd(ucd_free(&column));
    side->memory = edge * edge * unit;
}

void layouts_make(enum layout layout, size_t bytes, size_t block, size_t stride,
                  struct layouts *made) {
    size_t doubles = bytes / unit;
    const size_t in_block = block / unit, apart = stride / unit;
    if (layout == LAYOUT_VECTOR || layout == LAYOUT_TO_VECTOR) doubles -= doubles % in_block;
    size_t edge = 1;
    while ((edge + 1) * (edge + 1) <= doubles) ++edge;
    if (layout == LAYOUT_TRANSPOSE) doubles = edge * edge;
    if (doubles == 0) fail("--bytes is %zu, which has no room for a block", bytes);
    made->bytes = doubles * unit;
    switch (layout) {
    case LAYOUT_INDEXED:
        make_indexed(doubles, &made->from);
        make_indexed(doubles, &made->to);
        break;
    case LAYOUT_TRANSPOSE:
        make_columns(edge, &made->from);
        make_contiguous(doubles, &made->to);
        break;
    case LAYOUT_TO_VECTOR:
        make_contiguous(doubles, &made->from);
        make_vector(doubles, in_block, apart, &made->to);
        break;
    default:
        make_vector(doubles, in_block, apart, &made->from);
        make_vector(doubles, in_block, apart, &made->to);
    }
}

void layouts_free(struct layouts *layouts) {
    ucd(ucd_free(&layouts->from.type));
    ucd(ucd_free(&layouts->to.type));
}
