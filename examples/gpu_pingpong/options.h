/* The command line. */
#ifndef GPU_PINGPONG_OPTIONS_H
#define GPU_PINGPONG_OPTIONS_H

#include "layout.h"
#include "memory.h"

#include <stdbool.h>

enum { MOST_VALUES = 16 };
struct list {
    size_t values[MOST_VALUES];
    int count;
};

enum path { PATH_AUTO, PATH_DIRECT, PATH_RING, PATH_HOST, PATHS };
extern const char *const path_names[PATHS];

struct options {
    const char *backend;
    int devices[2];
    bool layouts[LAYOUTS];
    struct list bytes, fragments, depths; /* all combinations are measured */
    bool paths[PATHS];
    bool memories[MEMORY_KINDS];
    size_t piece;         /* of physical memory, bytes */
    size_t block, stride; /* of vectors, bytes; stride 0: twice the block */
    int repeats;
    bool only_pipeline; /* without what it is compared with */
};

/* Ends the program if there is nothing to run. */
void options_parse(int argc, char **argv, struct options *options);

#endif
