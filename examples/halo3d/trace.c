#include "trace.h"

#include "complain.h"
#include "grid.h"
#include "now.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [TRACE_PACK_BEGIN] = "pack-begin",
    [TRACE_PACK_END] = "pack-end",
    [TRACE_POST] = "post",
    [TRACE_COMPLETE] = "complete",
    [TRACE_RECEIVED] = "recv-complete",
    [TRACE_UNPACK_BEGIN] = "unpack-begin",
    [TRACE_UNPACK_END] = "unpack-end",
};

void trace_add(struct trace *trace, enum trace_what what, int iteration, int face, int piece) {
    if (!trace->enabled) return;
    if (trace->count == trace->room) {
        size_t room = trace->room ? 2 * trace->room : 4096;
        struct trace_event *events = realloc(trace->events, room * sizeof *events);
        if (!events) {
            trace->lost = true; /* trace_write reports it */
            return;
        }
        trace->events = events;
        trace->room = room;
    }
    trace->events[trace->count++] = (struct trace_event){
        .ns = now_ns(),
        .iteration = iteration,
        .piece = piece,
        .face = (uint8_t)face,
        .what = (uint8_t)what,
    };
}

bool trace_write_header(FILE *file) {
    if (fputs("# nanoseconds rank iteration face piece event\n", file) != EOF && fflush(file) == 0)
        return true;
    return complain("cannot write the trace: %s", strerror(errno));
}

bool trace_write(struct trace *trace, int rank, FILE *file) {
    bool written = true;
    for (size_t i = 0; i < trace->count && written; i++) {
        const struct trace_event *event = &trace->events[i];
        written = fprintf(file, "%" PRIu64 " %d %" PRId32 " %s %" PRId32 " %s\n", event->ns, rank,
                          event->iteration, face_names[event->face], event->piece,
                          names[event->what]) > 0;
    }
    if (!written || fflush(file) != 0)
        complain("cannot write the trace: %s", strerror(errno));
    else if (trace->lost)
        written = complain("no memory for all events of the trace");
    free(trace->events);
    *trace = (struct trace){.enabled = trace->enabled};
    return written;
}
