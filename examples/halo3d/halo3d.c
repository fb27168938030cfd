/* halo3d: heat spreads through a 3-D field that is divided among processes, which exchange the
 * faces of their blocks by libucd-ucx. This file is a process from its beginning to its end;
 * exchange.c is the exchange, block.c its types, and run.py starts the processes. */
#include "../fail.h"
#include "exchange.h"
#include "field.h"
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum measure { COPY, EXCHANGE, STENCIL, MEASURES };

struct times {
    uint64_t *ns[MEASURES]; /* of each step */
};

static struct times times_make(int steps) {
    struct times times;
    for (int i = 0; i < MEASURES; i++)
        times.ns[i] = allocated(calloc((size_t)steps, sizeof(uint64_t)));
    return times;
}

static void times_free(struct times *times) {
    for (int i = 0; i < MEASURES; i++) free(times->ns[i]);
}

static uintptr_t face_bytes(const struct block *block) {
    uintptr_t bytes = 0;
    for (int face = 0; face < FACES; face++) bytes += block->faces[face].bytes;
    return bytes;
}

static void make_step(struct field *field, struct exchange *exchange, int step,
                      struct times *times) {
    const uint64_t start = now_ns();
    field_copy(field, face_bytes(field->block)); /* the array has more cells than its faces */
    const uint64_t copied = now_ns();
    exchange_faces(exchange, field->cells, step);
    const uint64_t exchanged = now_ns();
    field_step(field);
    times->ns[COPY][step] = copied - start;
    times->ns[EXCHANGE][step] = exchanged - copied;
    times->ns[STENCIL][step] = now_ns() - exchanged;
}

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Not the mean, which a process that has to wait for a core once would spoil. */
static uint64_t median(uint64_t *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static void print_start(const struct options *options, const struct grid *grid,
                        const struct block *block) {
    printf("%jdx%jdx%jd cells, %d processes as %dx%dx%d, %d steps, in memory of %s\n",
           (intmax_t)grid->shape[0], (intmax_t)grid->shape[1], (intmax_t)grid->shape[2],
           options->processes, grid->processes[0], grid->processes[1], grid->processes[2],
           options->steps, options->memory == NULL ? "the host" : options->memory);
    block_print_faces(block);
}

static void print_rates(struct times *times, int steps, uintptr_t bytes) {
    static const char *const names[MEASURES] = {"copy", "exchange", "stencil"};
    printf("process 0: %ju bytes a step; medians\n%-10s %9s %9s\n", (uintmax_t)bytes, "", "ms",
           "GB/s");
    for (int i = 0; i < MEASURES; i++) {
        const uint64_t ns = median(times->ns[i], steps);
        printf("%-10s %9.3f", names[i], 1e-6 * (double)ns);
        if (i != STENCIL) printf(" %9.2f", (double)bytes / (double)(ns ? ns : 1));
        putchar('\n');
    }
}

static void print_pieces(int rank, const struct exchange *exchange) {
    const double packed = (double)exchange->pieces.packed;
    if (exchange->pieces.sent == 0) return; /* every face was short, or packed by UCX */
    printf("process %d: %" PRIu64 " pieces sent", rank, exchange->pieces.sent);
    if (packed > 0)
        printf("; %.0f packed, %.0f %% of them while others were on the wire", packed,
               100 * (double)exchange->pieces.overlapped / packed);
    putchar('\n');
}

int main(int argc, char **argv) {
    const struct options options = options_parse(argc, argv);
    ucd(ucd_init(UCD_INFO__NULL));
    const struct grid grid = grid_make(options.shape, options.processes, options.grid);
    struct block block;
    struct field field;
    struct wire wire;
    struct exchange exchange;
    block_make(&grid, options.rank, &block);
    field_open(&field, &block, options.field, options.shape, options.memory);
    wire_open(&wire, &options);
    exchange_open(&exchange, &wire, &block, options.piece_bytes);
    if (options.rank == 0) print_start(&options, &grid, &block);

    struct times times = times_make(options.steps);
    for (int step = 0; step < options.steps; step++) make_step(&field, &exchange, step, &times);
    if (options.rank == 0) print_rates(&times, options.steps, face_bytes(&block));
    print_pieces(options.rank, &exchange);

    times_free(&times);
    wire_close(&wire);
    field_close(&field);
    block_free(&block);
    ucd(ucd_finalize());
    if (fflush(stdout) != 0) fail("cannot write to standard output: %s", strerror(errno));
    return EXIT_SUCCESS;
}
