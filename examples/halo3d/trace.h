/* The trace: every pack, post, completion and unpack of a piece, with its time. Events are kept in
 * memory while the processes run, so that tracing disturbs them little. */
#ifndef HALO3D_TRACE_H
#define HALO3D_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum trace_what {
    TRACE_PACK_BEGIN,
    TRACE_PACK_END,
    TRACE_POST,     /* given to UCX */
    TRACE_COMPLETE, /* UCX says that it was sent */
    TRACE_RECEIVED,
    TRACE_UNPACK_BEGIN,
    TRACE_UNPACK_END
};

struct trace_event {
    uint64_t ns;
    int32_t iteration, piece;
    uint8_t face, what;
};

struct trace {
    bool enabled;
    bool lost; /* no memory for some events */
    size_t count, room;
    struct trace_event *events;
};

void trace_add(struct trace *trace, enum trace_what what, int iteration, int face, int piece);

/* The first line of the file. */
bool trace_write_header(FILE *file);

/* Writes this process's events, and forgets them. */
bool trace_write(struct trace *trace, int rank, FILE *file);

#endif
