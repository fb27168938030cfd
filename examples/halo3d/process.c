#include "process.h"

#include "complain.h"
#include "flow.h"
#include "halo.h"
#include "host.h"
#include "now.h"
#include "stencil.h"

#include <stdlib.h>
#include <string.h>
#include <ucd.h>

struct process {
    const struct run *run;
    int rank;
    struct stats *stats;
    struct block block;
    ucd_type_t interior; /* the block in the arrays below */
    ucd_type_t in_file;  /* the block in the whole field */
    double *from, *to;   /* the block with its ghost cells, now and a step later */
    size_t array_bytes;
    struct wire wire;
    struct trace trace;
    struct halo halo;
    struct flow flow; /* in its place, if libucd-ucx is to do it */
    struct {
        unsigned char *ring; /* as large as the window */
        size_t ring_at, array_at;
    } baseline;
};

static bool make_arrays(struct process *process) {
    const struct options *options = &process->run->options;
    size_t cells = 1; /* cannot overflow: the file, which is mapped, is not much smaller */
    for (int axis = 0; axis < AXES; axis++) cells *= (size_t)with_ghosts(process->block.size[axis]);
    process->array_bytes = cells * sizeof(double);
    process->from = calloc(cells, sizeof(double));
    process->to = calloc(cells, sizeof(double));
    process->baseline.ring = calloc((size_t)options->window, options->piece_bytes);
    return (process->from && process->to && process->baseline.ring) ||
           complain("no memory for a block of %zu cells", cells);
}

static bool make_types(struct process *process) {
    return interior_type(&process->block, &process->interior) &&
           ucd_ok(ucd_create_subarray(AXES, process->run->grid.shape, process->block.size,
                                      process->block.start, UCD_ORDER__C, UCD_TYPE__DOUBLE,
                                      UCD_INFO__NULL, &process->in_file));
}

static bool copy_block(const void *from, ucd_type_t from_type, void *to, ucd_type_t to_type) {
    uintptr_t bytes;
    return ucd_ok(
        ucd_copy(from, 1, from_type, to, 1, to_type, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE));
}

/* What packing is compared with: memcpy of as many bytes, in pieces of the same size, to buffers
 * that are reused in the same way, from memory that the last step left in the same state. */
static void measure_memcpy(struct process *process) {
    const struct options *options = &process->run->options;
    const size_t ring_bytes = (size_t)options->window * options->piece_bytes;
    uint64_t copied = 0;
    const uint64_t start = now_ns();
    for (int i = 0; i < process->halo.piece_count; i++) {
        const size_t bytes = process->halo.pieces[i].bytes;
        if (process->array_bytes - process->baseline.array_at < bytes)
            process->baseline.array_at = 0; /* no piece is larger than the array */
        memcpy(process->baseline.ring + process->baseline.ring_at,
               (const unsigned char *)process->from + process->baseline.array_at, bytes);
        copied += bytes;
        process->baseline.array_at += bytes;
        process->baseline.ring_at = (process->baseline.ring_at + options->piece_bytes) % ring_bytes;
    }
    /* Nothing reads the copies: without this the compiler may leave them out. */
    __asm__ volatile("" : : "r"(process->baseline.ring) : "memory");
    stats_add(process->stats, MEASURE_MEMCPY, copied, now_ns() - start);
}

static void step(struct process *process) {
    const uint64_t start = now_ns();
    stencil_block(process->block.size, process->from, process->to);
    double *from = process->from;
    process->from = process->to;
    process->to = from;
    stats_add(process->stats, MEASURE_STENCIL, process->array_bytes, now_ns() - start);
}

static bool uses_flow(const struct process *process) {
    const struct options *options = &process->run->options;
    return !options->decide && options->method == METHOD_PIPELINE;
}

static bool iterate(struct process *process) {
    struct team_member *self = &process->run->team->members[process->rank];
    for (int i = 0; i < process->run->options.iterations; i++) {
        if (!uses_flow(process)) measure_memcpy(process);
        if (!(uses_flow(process) ? flow_exchange(&process->flow, process->from, i)
                                 : halo_exchange(&process->halo, process->from, i)))
            return false;
        step(process);
        stats_end_step(process->stats, i);
        atomic_store(&self->steps, i + 1);
    }
    return true;
}

static bool write_trace(struct process *process) {
    struct team *team = process->run->team;
    if (!process->trace.enabled) return true;
    bool good = true;
    for (int turn = 0; turn < team->size; turn++) {
        if (turn == process->rank) good = trace_write(&process->trace, turn, process->run->trace);
        wire_barrier(&process->wire);
    }
    return good;
}

static bool work(struct process *process) {
    const struct run *run = process->run;
    if (!host_enter(run->options.hosts, process->rank) || !make_arrays(process) ||
        !make_types(process) ||
        !copy_block(run->input.data, process->in_file, process->from, process->interior) ||
        !wire_open(&process->wire, run->team, process->rank))
        return false;
    bool good = uses_flow(process)
                    ? flow_make(&process->flow, &process->wire, &run->grid, process->rank,
                                &run->options, process->stats, &process->trace)
                    : halo_make(&process->halo, &process->wire, &run->grid, process->rank,
                                &run->options, process->stats, &process->trace);
    if (good && process->rank == 0) {
        faces_print(stdout, uses_flow(process) ? process->flow.faces : process->halo.faces,
                    &run->options);
        fflush(stdout);
    }
    good = good && iterate(process) &&
           copy_block(process->from, process->interior, run->output.data, process->in_file) &&
           write_trace(process) && (!uses_flow(process) || flow_free(&process->flow)) &&
           wire_close(&process->wire);
    /* If it failed, UCX may still have its buffers: see wire.h. */
    if (good && !uses_flow(process)) halo_free(&process->halo);
    return good;
}

int process_main(int rank, void *argument) {
    const struct run *run = argument;
    struct process process = {
        .run = run,
        .rank = rank,
        .stats = &run->team->members[rank].stats,
        .block = grid_block(&run->grid, rank),
        .trace = {.enabled = run->trace != NULL},
    };
    if (!ucd_ok(ucd_init(UCD_INFO__NULL))) return EXIT_FAILURE;
    bool good = work(&process);
    if (process.interior != UCD_TYPE__NULL) good = ucd_ok(ucd_free(&process.interior)) && good;
    if (process.in_file != UCD_TYPE__NULL) good = ucd_ok(ucd_free(&process.in_file)) && good;
    free(process.from);
    free(process.to);
    free(process.baseline.ring);
    good = ucd_ok(ucd_finalize()) && good;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
