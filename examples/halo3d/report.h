/* What the user sees while the processes run, and what they measured. */
#ifndef HALO3D_REPORT_H
#define HALO3D_REPORT_H

#include "options.h"
#include "team.h"

#include <stdbool.h>

struct progress {
    const struct team *team;
    int iterations;
    bool terminal;
    int shown; /* steps; -1: none yet */
};

struct progress progress_start(const struct team *team, int iterations);

/* On a terminal one line that changes, else a line for about every tenth of the steps. */
void progress_show(struct progress *progress);

/* Ends the line that changes. */
void progress_end(const struct progress *progress);

/* Throughput of packing, unpacking and the exchange beside memcpy's, and how they overlapped. */
bool report_print(const struct team *team, int iterations);

#endif
