/* Memory of a device, of several kinds. */
#ifndef GPU_PINGPONG_MEMORY_H
#define GPU_PINGPONG_MEMORY_H

#include <stddef.h>

/* By ucd_memory_alloc; and, on NVIDIA's GPUs: pieces of physical memory that are mapped one behind
 * the other, as PyTorch's expandable segments are; of a stream-ordered pool; managed. */
enum memory_kind { MEMORY_MALLOC, MEMORY_VMM, MEMORY_POOL, MEMORY_MANAGED, MEMORY_KINDS };
extern const char *const memory_names[MEMORY_KINDS];

struct memory_source {
    enum memory_kind kind;
    const char *device; /* its name, and its number */
    int number;
    size_t piece; /* bytes of a piece of physical memory */
};

/* Ends the program if there is none. */
void *memory_take(const struct memory_source *source, size_t bytes);
void memory_give_back(const struct memory_source *source, void *memory, size_t bytes);

#endif
