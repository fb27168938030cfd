#include "field.h"

#include "../fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucd_memory.h>
#include <unistd.h>

/* Wherever the memory is. */
static void copy(const void *from, ucd_type_t from_type, void *to, ucd_type_t to_type,
                 uintptr_t count) {
    uintptr_t bytes;
    ucd(ucd_copy(from, count, from_type, to, count, to_type, &bytes, UCD_INFO__NULL,
                 UCD_OP__REPLACE));
}

static void *take(const char *memory, size_t bytes) {
    if (memory == NULL) return allocated(calloc(1, bytes));
    void *address;
    ucd(ucd_memory_alloc(memory, UCD_MEMORY__DEVICE, bytes, &address));
    return address;
}

static void give_back(const struct field *field, void *address) {
    if (field->on_device)
        ucd(ucd_memory_free(address));
    else
        free(address);
}

static void map(struct field *field, const char *path, const intptr_t shape[AXES]) {
    field->file_bytes = sizeof(double);
    for (int axis = 0; axis < AXES; axis++)
        if (__builtin_mul_overflow(field->file_bytes, (size_t)shape[axis], &field->file_bytes))
            fail("a field of this shape does not fit memory");
    const int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
        fail("%s: cannot open it: %s", path, strerror(errno));
    if ((uintmax_t)status.st_size != field->file_bytes)
        fail("%s has %jd bytes; the shape needs %zu", path, (intmax_t)status.st_size,
             field->file_bytes);
    field->file = mmap(NULL, field->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (field->file == MAP_FAILED) fail("%s: cannot map it: %s", path, strerror(errno));
    close(file);
}

void field_open(struct field *field, const struct block *block, const char *path,
                const intptr_t shape[AXES], const char *memory) {
    *field = (struct field){.block = block, .on_device = memory != NULL};
    map(field, path, shape);
    field->bytes = sizeof(double); /* does not overflow: the file is not much smaller */
    for (int axis = 0; axis < AXES; axis++) field->bytes *= (size_t)block->array[axis];
    field->cells = take(memory, field->bytes);
    field->baseline = take(memory, field->bytes);
    field->other = allocated(calloc(1, field->bytes));
    if (field->on_device) field->on_host = allocated(calloc(1, field->bytes));
    copy(field->file, block->in_field, field->cells, block->in_array, 1);
}

/* The seven-point stencil. The order of the additions is that of the test, which expects the same
 * bits. */
static void stencil(const struct block *block, const double *from, double *to) {
    const intptr_t row = block->array[2], plane = row * block->array[1];
    for (intptr_t x = 1; x <= block->size[0]; x++)
        for (intptr_t y = 1; y <= block->size[1]; y++) {
            const double *restrict c = from + x * plane + y * row;
            double *restrict result = to + x * plane + y * row;
            for (intptr_t z = 1; z <= block->size[2]; z++)
                result[z] = c[z] + 0.125 * (c[z - plane] + c[z + plane] + c[z - row] + c[z + row] +
                                            c[z - 1] + c[z + 1] - 6.0 * c[z]);
        }
}

void field_step(struct field *field) {
    const struct block *block = field->block;
    if (!field->on_device) {
        stencil(block, field->cells, field->other);
        double *now = field->other;
        field->other = field->cells;
        field->cells = now;
        return;
    }
    /* A program for GPUs has a kernel in place of these lines: this one is about the exchange. */
    copy(field->cells, UCD_TYPE__BYTE, field->on_host, UCD_TYPE__BYTE, field->bytes);
    stencil(block, field->on_host, field->other);
    copy(field->other, block->in_array, field->cells, block->in_array, 1);
}

void field_copy(struct field *field, size_t bytes) {
    copy(field->cells, UCD_TYPE__BYTE, field->baseline, UCD_TYPE__BYTE, bytes);
}

void field_close(struct field *field) {
    copy(field->cells, field->block->in_array, field->file, field->block->in_field, 1);
    if (munmap(field->file, field->file_bytes) != 0)
        fail("cannot write the field: %s", strerror(errno));
    give_back(field, field->cells);
    give_back(field, field->baseline);
    free(field->other);
    free(field->on_host);
}
