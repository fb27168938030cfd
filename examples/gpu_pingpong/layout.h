/* What is sent: the layout at the sender, and the one at the receiver. */
#ifndef GPU_PINGPONG_LAYOUT_H
#define GPU_PINGPONG_LAYOUT_H

#include <stddef.h>
#include <ucd.h>

enum layout { LAYOUT_VECTOR, LAYOUT_INDEXED, LAYOUT_TO_VECTOR, LAYOUT_TRANSPOSE, LAYOUTS };
extern const char *const layout_names[LAYOUTS];

/* One side's data: count of a type, within bytes of memory from its address on. */
struct side_layout {
    ucd_type_t type;
    size_t memory;
};

struct layouts {
    struct side_layout from, to;
    size_t bytes; /* packed: at most what was asked for, a little less where it does not fit */
};

/* Blocks of so many bytes in vectors, and from the beginning of one to the next. */
void layouts_make(enum layout layout, size_t bytes, size_t block, size_t stride,
                  struct layouts *made);
void layouts_free(struct layouts *layouts);

#endif
