#include "layout.h"

#include "../fail.h"

#include <stdint.h>
#include <stdlib.h>

const char *const layout_names[LAYOUTS] = {"vector",    "indexed", "contiguous-to-vector",
                                           "transpose", "faces",   "struct"};

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

/* Doubles in the three faces of a cube, each a sixteenth of the edge thick. What belongs to two of
 * them is in the first. */
static size_t in_faces(size_t edge) {
    const size_t thick = edge / 16, rest = edge - thick;
    return thick * (edge * edge + rest * edge + rest * rest);
}

static void make_faces(size_t edge, struct side_layout *side) {
    const intptr_t n = (intptr_t)edge, thick = n / 16, rest = n - thick;
    const intptr_t sizes[3] = {n, n, n};
    const intptr_t faces[3][3] = {{thick, n, n}, {rest, thick, n}, {rest, rest, thick}};
    const intptr_t starts[3][3] = {{0, 0, 0}, {thick, 0, 0}, {thick, thick, 0}};
    const intptr_t lengths[3] = {1, 1, 1}, at[3] = {0, 0, 0};
    ucd_type_t types[3];
    for (int i = 0; i < 3; ++i)
        ucd(ucd_create_subarray(3, sizes, faces[i], starts[i], UCD_ORDER__C, UCD_TYPE__DOUBLE,
                                UCD_INFO__NULL, &types[i]));
    ucd(ucd_create_struct(3, lengths, at, types, UCD_INFO__NULL, &side->type));
    for (int i = 0; i < 3; ++i) ucd(ucd_free(&types[i]));
    side->memory = edge * edge * edge * unit;
}

/* Structs of 24 bytes, of which a double, an int and a float are sent: two doubles' bytes. */
static void make_structs(size_t doubles, struct side_layout *side) {
    const ucd_type_t members[3] = {UCD_TYPE__DOUBLE, UCD_TYPE__INT, UCD_TYPE__FLOAT};
    const intptr_t lengths[3] = {1, 1, 1}, at[3] = {0, 8, 16};
    ucd_type_t one, whole;
    ucd(ucd_create_struct(3, lengths, at, members, UCD_INFO__NULL, &one));
    ucd(ucd_create_resized(one, 0, 24, UCD_INFO__NULL, &whole));
    ucd(ucd_create_contig((intptr_t)(doubles / 2), whole, UCD_INFO__NULL, &side->type));
    ucd(ucd_free(&whole));
    ucd(ucd_free(&one));
    side->memory = doubles / 2 * 24;
}

void layouts_make(enum layout layout, size_t bytes, size_t block, size_t stride,
                  struct layouts *made) {
    size_t doubles = bytes / unit;
    const size_t in_block = block / unit, in_stride = stride / unit;
    if (layout == LAYOUT_VECTOR || layout == LAYOUT_TO_VECTOR) doubles -= doubles % in_block;
    size_t edge = 1;
    while ((edge + 1) * (edge + 1) <= doubles) ++edge;
    if (layout == LAYOUT_TRANSPOSE) doubles = edge * edge;
    if (layout == LAYOUT_FACES) {
        for (edge = 16; in_faces(edge + 1) <= doubles; ++edge) {
        }
        doubles = in_faces(edge);
    }
    if (layout == LAYOUT_STRUCT) doubles -= doubles % 2;
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
        make_vector(doubles, in_block, in_stride, &made->to);
        break;
    case LAYOUT_FACES:
        make_faces(edge, &made->from);
        make_faces(edge, &made->to);
        break;
    case LAYOUT_STRUCT:
        make_structs(doubles, &made->from);
        make_structs(doubles, &made->to);
        break;
    default:
        make_vector(doubles, in_block, in_stride, &made->from);
        make_vector(doubles, in_block, in_stride, &made->to);
    }
}

void layouts_free(struct layouts *layouts) {
    ucd(ucd_free(&layouts->from.type));
    ucd(ucd_free(&layouts->to.type));
}
