#include "block.h"

#include "../fail.h"

#include <inttypes.h>
#include <stdio.h>

/* A box of cells of a larger array. */
static ucd_type_t box(const intptr_t array[AXES], const intptr_t size[AXES],
                      const intptr_t start[AXES]) {
    ucd_type_t type;
    ucd(ucd_create_subarray(AXES, array, size, start, UCD_ORDER__C, UCD_TYPE__DOUBLE,
                            UCD_INFO__NULL, &type));
    return type;
}

/* A layer of cells across an axis, at an index of the array. */
static ucd_type_t layer(const struct block *block, int axis, intptr_t index) {
    intptr_t size[AXES] = {block->size[0], block->size[1], block->size[2]};
    intptr_t start[AXES] = {1, 1, 1};
    size[axis] = 1;
    start[axis] = index;
    return box(block->array, size, start);
}

void block_make(const struct grid *grid, int rank, struct block *block) {
    intptr_t start[AXES];
    grid_block(grid, rank, start, block->size);
    for (int axis = 0; axis < AXES; axis++) block->array[axis] = block->size[axis] + 2;
    block->in_array = box(block->array, block->size, (const intptr_t[AXES]){1, 1, 1});
    block->in_field = box(grid->shape, block->size, start);
    for (int number = 0; number < FACES; number++) {
        const int axis = number / 2, upper = number % 2;
        const intptr_t last = block->size[axis];
        struct face *face = &block->faces[number];
        face->neighbour = grid_neighbour(grid, rank, number);
        face->send = layer(block, axis, upper ? last : 1);
        face->receive = layer(block, axis, upper ? last + 1 : 0);
        ucd(ucd_get_size(face->send, &face->bytes));
    }
}

void block_free(struct block *block) {
    for (int number = 0; number < FACES; number++) {
        ucd(ucd_free(&block->faces[number].send));
        ucd(ucd_free(&block->faces[number].receive));
    }
    ucd(ucd_free(&block->in_array));
    ucd(ucd_free(&block->in_field));
}

void block_print_faces(const struct block *block) {
    static const char *const names[FACES] = {"-x", "+x", "-y", "+y", "-z", "+z"};
    printf("face  neighbour       bytes   segments of bytes\n");
    for (int number = 0; number < FACES; number++) {
        const struct face *face = &block->faces[number];
        ucd_layout_t layout = {.struct_size = sizeof layout};
        ucd(ucd_get_layout(1, face->send, &layout));
        printf("%-4s  %9d  %10" PRIu64 "  %9" PRIu64 " of %" PRIu64 "\n", names[number],
               face->neighbour, (uint64_t)face->bytes, layout.segments, layout.max_segment);
    }
    fflush(stdout);
}
