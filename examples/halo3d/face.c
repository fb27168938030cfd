#include "face.h"

#include "complain.h"

#include <inttypes.h>

/* A box of cells of the array around a block. */
static bool box_type(const struct block *block, const intptr_t size[AXES],
                     const intptr_t start[AXES], ucd_type_t *type) {
    const intptr_t array[AXES] = {with_ghosts(block->size[0]), with_ghosts(block->size[1]),
                                  with_ghosts(block->size[2])};
    return ucd_ok(ucd_create_subarray(AXES, array, size, start, UCD_ORDER__C, UCD_TYPE__DOUBLE,
                                      UCD_INFO__NULL, type));
}

bool interior_type(const struct block *block, ucd_type_t *type) {
    return box_type(block, block->size, (const intptr_t[AXES]){1, 1, 1}, type);
}

/* A layer of cells across an axis, at an index of the array. */
static bool layer_type(const struct block *block, int axis, intptr_t index, ucd_type_t *type) {
    intptr_t size[AXES] = {block->size[0], block->size[1], block->size[2]};
    intptr_t start[AXES] = {1, 1, 1};
    size[axis] = 1;
    start[axis] = index;
    return box_type(block, size, start, type);
}

static double mean_segment(const ucd_layout_t *layout) {
    return layout->segments ? (double)layout->bytes / (double)layout->segments : 0;
}

/* Packing costs a copy of every byte. A list of segments costs the transport some work for each of
 * them, which is little if they are long; and nothing if there is only one. */
static enum method decide(const ucd_layout_t *layout, const struct options *options) {
    if (!options->decide) return options->method;
    if (layout->contiguous) return METHOD_DIRECT;
    return mean_segment(layout) >= (double)options->iov_threshold ? METHOD_IOV : METHOD_PACK;
}

static bool face_make(const struct block *block, int number, const struct options *options,
                      struct face *face) {
    const int axis = number / 2;
    const intptr_t cells = block->size[axis];
    const bool upper = number % 2 != 0;
    face->layout.struct_size = sizeof face->layout;
    if (!layer_type(block, axis, upper ? cells : 1, &face->send) ||
        !layer_type(block, axis, upper ? cells + 1 : 0, &face->receive) ||
        !ucd_ok(ucd_get_layout(1, face->send, &face->layout)))
        return false;
    face->method = decide(&face->layout, options);
    face->bytes = (size_t)face->layout.bytes;
    return true;
}

bool faces_make(const struct grid *grid, int rank, const struct options *options,
                struct face faces[FACES]) {
    const struct block block = grid_block(grid, rank);
    for (int number = 0; number < FACES; number++) faces[number] = (struct face){0};
    for (int number = 0; number < FACES; number++) {
        faces[number].neighbour = grid_neighbour(grid, rank, number);
        if (!face_make(&block, number, options, &faces[number])) {
            faces_free(faces);
            return false;
        }
    }
    return true;
}

void faces_free(struct face faces[FACES]) {
    for (int number = 0; number < FACES; number++) {
        if (faces[number].send != UCD_TYPE__NULL) ucd_ok(ucd_free(&faces[number].send));
        if (faces[number].receive != UCD_TYPE__NULL) ucd_ok(ucd_free(&faces[number].receive));
    }
}

static void print_decision(FILE *file, const struct face *face, const struct options *options) {
    const double mean = mean_segment(&face->layout);
    if (!options->decide)
        fprintf(file, "%s, as --method says\n",
                face->method == METHOD_PACK  ? "pack"
                : face->method == METHOD_IOV ? "iov"
                                             : "pipeline");
    else if (face->method == METHOD_DIRECT)
        fputs("in place: it is contiguous\n", file);
    else
        fprintf(file, "%s: a segment has %.0f B, %s %zu\n",
                face->method == METHOD_IOV ? "iov" : "pack", mean,
                mean < (double)options->iov_threshold ? "less than" : "at least",
                options->iov_threshold);
}

void faces_print(FILE *file, const struct face faces[FACES], const struct options *options) {
    fprintf(file, "face  %10s  %9s  %21s  to be sent\n", "bytes", "segments", "shortest - longest");
    for (int number = 0; number < FACES; number++) {
        const struct face *face = &faces[number];
        fprintf(file, "%-4s  %10zu  %9" PRIu64 "  %9" PRIu64 " - %-9" PRIu64 "  ",
                face_names[number], face->bytes, face->layout.segments, face->layout.min_segment,
                face->layout.max_segment);
        print_decision(file, face, options);
    }
}
