#include "measure.h"

#include "../fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucd_memory.h>

enum way { WAY_PIPELINE, WAY_CONTIGUOUS, WAY_WHOLE, WAYS };

/* One line of the table. */
struct run {
    const struct options *options;
    struct wire *wire;
    const char *device;
    struct layouts layouts;
    ucd_info_t keys, hints;
    unsigned char *out, *in;     /* laid out, on the device */
    unsigned char *packed;       /* on the device */
    struct memory_source memory; /* of what is laid out */
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *device_memory(const char *device, size_t bytes) {
    void *memory;
    ucd(ucd_memory_alloc(device, UCD_MEMORY__DEVICE, bytes, &memory));
    return memory;
}

static void copy_bytes(const void *from, void *to, size_t bytes) {
    uintptr_t moved;
    ucd(ucd_copy(from, bytes, UCD_TYPE__BYTE, to, bytes, UCD_TYPE__BYTE, &moved, UCD_INFO__NULL,
                 UCD_OP__REPLACE));
}

/* Data ----------------------------------------------------------------------------------------- */

static uint32_t word_at(size_t i, uint32_t seed) {
    return (uint32_t)i * 2654435761u ^ seed;
}

static const unsigned char hole = 0x5a;

/* The stream that a process sends; in the layout, on the device, with holes around it. */
static void fill(struct run *run, uint32_t seed) {
    const size_t words = run->layouts.bytes / sizeof(uint32_t);
    uint32_t *stream = allocated(malloc(run->layouts.bytes));
    unsigned char *image = allocated(malloc(run->layouts.from.memory));
    for (size_t i = 0; i < words; ++i) stream[i] = word_at(i, seed);
    memset(image, hole, run->layouts.from.memory);
    uintptr_t moved;
    ucd(ucd_unpack(stream, run->layouts.bytes, image, 1, run->layouts.from.type, 0, &moved,
                   UCD_INFO__NULL, UCD_OP__REPLACE));
    copy_bytes(image, run->out, run->layouts.from.memory);
    free(image);
    free(stream);
}

static void clear(struct run *run) {
    unsigned char *image = allocated(malloc(run->layouts.to.memory));
    memset(image, hole, run->layouts.to.memory);
    copy_bytes(image, run->in, run->layouts.to.memory);
    free(image);
}

/* All that the other process has sent is in its place, and the holes are as they were. */
static void check(struct run *run, uint32_t seed, const char *what) {
    const size_t words = run->layouts.bytes / sizeof(uint32_t);
    uint32_t *stream = allocated(malloc(run->layouts.bytes));
    unsigned char *image = allocated(malloc(run->layouts.to.memory));
    copy_bytes(run->in, image, run->layouts.to.memory);
    uintptr_t moved;
    ucd(ucd_pack(image, 1, run->layouts.to.type, 0, stream, run->layouts.bytes, &moved,
                 UCD_INFO__NULL, UCD_OP__REPLACE));
    for (size_t i = 0; i < words; ++i)
        if (stream[i] != word_at(i, seed))
            fail("process %d, %s: WRONG DATA at packed byte %zu", run->wire->rank, what,
                 i * sizeof(uint32_t));
    memset(stream, hole, run->layouts.bytes);
    ucd(ucd_unpack(stream, run->layouts.bytes, image, 1, run->layouts.to.type, 0, &moved,
                   UCD_INFO__NULL, UCD_OP__REPLACE));
    for (size_t i = 0; i < run->layouts.to.memory; ++i)
        if (image[i] != hole)
            fail("process %d, %s: byte %zu was WRITTEN, and is not of the layout", run->wire->rank,
                 what, i);
    free(image);
    free(stream);
}

/* Round trips ---------------------------------------------------------------------------------- */

static void send_once(struct run *run, enum way way) {
    uintptr_t moved;
    const size_t bytes = run->layouts.bytes;
    if (way == WAY_PIPELINE) {
        wire_send(run->wire, run->out, run->layouts.from.type, 1, run->keys);
        return;
    }
    if (way == WAY_WHOLE)
        ucd(ucd_pack(run->out, 1, run->layouts.from.type, 0, run->packed, bytes, &moved, run->hints,
                     UCD_OP__REPLACE));
    wire_send(run->wire, run->packed, UCD_TYPE__BYTE, bytes, run->keys);
}

static void receive_once(struct run *run, enum way way) {
    uintptr_t moved;
    const size_t bytes = run->layouts.bytes;
    if (way == WAY_PIPELINE) {
        wire_receive(run->wire, run->in, run->layouts.to.type, 1, run->keys);
        return;
    }
    wire_receive(run->wire, run->packed, UCD_TYPE__BYTE, bytes, run->keys);
    if (way == WAY_WHOLE)
        ucd(ucd_unpack(run->packed, bytes, run->in, 1, run->layouts.to.type, 0, &moved, run->hints,
                       UCD_OP__REPLACE));
}

static void round_trip(struct run *run, enum way way) {
    if (run->wire->rank == 0) send_once(run, way);
    receive_once(run, way);
    if (run->wire->rank == 1) send_once(run, way);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of one way, the median. */
static double measure(struct run *run, enum way way, const char *name) {
    const bool checked = way != WAY_CONTIGUOUS;
    if (checked) clear(run);
    round_trip(run, way);
    if (checked) check(run, 100 + (uint32_t)(1 - run->wire->rank), name);
    for (int i = 0; i < 2; ++i) round_trip(run, way);
    double *seconds = allocated(malloc((size_t)run->options->repeats * sizeof *seconds));
    if (checked) clear(run);
    wire_barrier(run->wire);
    for (int i = 0; i < run->options->repeats; ++i) {
        const double start = now();
        round_trip(run, way);
        seconds[i] = (now() - start) / 2;
    }
    if (checked) check(run, 100 + (uint32_t)(1 - run->wire->rank), name);
    qsort(seconds, (size_t)run->options->repeats, sizeof *seconds, compare);
    const double median = seconds[run->options->repeats / 2];
    free(seconds);
    return median;
}

/* Lines ---------------------------------------------------------------------------------------- */

static void set_number(ucd_info_t info, const char *key, size_t number) {
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    ucd(ucd_info_set(info, key, text));
}

static void make_keys(struct run *run, enum path path, size_t fragment, size_t depth) {
    ucd(ucd_info_create(&run->keys));
    const bool ring = path != PATH_HOST;
    ucd(ucd_info_set(run->keys, "ucd.ucx.direct",
                     path == PATH_AUTO     ? "yes"
                     : path == PATH_DIRECT ? "always"
                                           : "no"));
    ucd(ucd_info_set(run->keys, "ucd.ucx.ring", ring ? "auto" : "none"));
    set_number(run->keys, ring ? "ucd.ucx.ring_chunk" : "ucd.ucx.chunk", fragment);
    set_number(run->keys, ring ? "ucd.ucx.ring_depth" : "ucd.ucx.depth", depth);
    ucd(ucd_info_create(&run->hints));
    ucd(ucd_info_set(run->hints, "ucd.inbuf", run->device));
    ucd(ucd_info_set(run->hints, "ucd.outbuf", run->device));
}

static void measure_line(struct run *run, const char *layout, enum path path, size_t fragment,
                         size_t depth) {
    static const char *const names[WAYS] = {"pipeline", "contiguous", "pack whole"};
    make_keys(run, path, fragment, depth);
    double rates[WAYS] = {0};
    struct wire *wire = run->wire;
    /* The first messages only introduce the processes to each other. */
    if (path == PATH_DIRECT || path == PATH_AUTO)
        for (int i = 0; i < 20; ++i) round_trip(run, WAY_PIPELINE);
    wire->chunks = wire->shared_chunks = wire->packed_chunks = 0;
    for (int way = 0; way < (run->options->only_pipeline ? 1 : WAYS); ++way)
        rates[way] = (double)run->layouts.bytes / measure(run, (enum way)way, names[way]) / 1e9;
    /* Small messages are no chunks. */
    const bool trusts = path == PATH_DIRECT || path == PATH_AUTO;
    const char *taken = wire->chunks == 0                     ? "whole"
                        : trusts && wire->packed_chunks == 0  ? "direct"
                        : wire->shared_chunks == wire->chunks ? "ring"
                        : wire->shared_chunks == 0            ? "host"
                                                              : "both";
    if (wire->rank == 0) {
        printf("%-21s %-6s %-6s %10zu %9zu %5zu %9.3f", layout, path_names[path], taken,
               run->layouts.bytes, fragment, depth, rates[WAY_PIPELINE]);
        if (!run->options->only_pipeline)
            printf(" %10.3f %10.3f %7.2f %7.2f", rates[WAY_CONTIGUOUS], rates[WAY_WHOLE],
                   rates[WAY_PIPELINE] / rates[WAY_CONTIGUOUS],
                   rates[WAY_PIPELINE] / rates[WAY_WHOLE]);
        printf("\n");
        fflush(stdout);
    }
    ucd(ucd_info_free(&run->keys));
    ucd(ucd_info_free(&run->hints));
}

static void measure_paths(struct run *run, const char *layout) {
    const struct options *o = run->options;
    for (int path = 0; path < PATHS; ++path) {
        if (!o->paths[path]) continue;
        for (int f = 0; f < o->fragments.count; ++f)
            for (int d = 0; d < o->depths.count; ++d)
                measure_line(run, layout, (enum path)path, o->fragments.values[f],
                             o->depths.values[d]);
    }
}

static void measure_layout(struct run *run, enum layout layout, size_t bytes) {
    layouts_make(layout, bytes, run->options->block, run->options->stride, &run->layouts);
    run->out = memory_take(&run->memory, run->layouts.from.memory);
    run->in = memory_take(&run->memory, run->layouts.to.memory);
    run->packed = device_memory(run->device, run->layouts.bytes);
    fill(run, 100 + (uint32_t)run->wire->rank);
    measure_paths(run, layout_names[layout]);
    memory_give_back(&run->memory, run->out, run->layouts.from.memory);
    memory_give_back(&run->memory, run->in, run->layouts.to.memory);
    ucd(ucd_memory_free(run->packed));
    layouts_free(&run->layouts);
}

void measure_all(const struct options *options, struct wire *wire) {
    char device[64];
    snprintf(device, sizeof device, "%s:%d", options->backend, options->devices[wire->rank]);
    struct run run = {.options = options,
                      .wire = wire,
                      .device = device,
                      .memory = {.device = device,
                                 .number = options->devices[wire->rank],
                                 .piece = options->piece}};
    if (wire->rank == 0) {
        printf("Devices %s:%d and %s:%d. One way, GB/s (10^9 bytes), median of %d. What is laid "
               "out is checked before and after.\n",
               options->backend, options->devices[0], options->backend, options->devices[1],
               options->repeats);
        printf("%-21s %-6s %-6s %10s %9s %5s %9s", "layout", "asked", "taken", "bytes", "fragment",
               "depth", "pipeline");
        if (!options->only_pipeline)
            printf(" %10s %10s %7s %7s", "contiguous", "packwhole", "/contig", "/whole");
        printf("\n");
    }
    for (int kind = 0; kind < MEMORY_KINDS; ++kind) {
        if (!options->memories[kind]) continue;
        run.memory.kind = (enum memory_kind)kind;
        if (wire->rank == 0 && kind != MEMORY_MALLOC) printf("memory: %s\n", memory_names[kind]);
        for (int layout = 0; layout < LAYOUTS; ++layout)
            for (int b = 0; options->layouts[layout] && b < options->bytes.count; ++b)
                measure_layout(&run, (enum layout)layout, options->bytes.values[b]);
    }
}
