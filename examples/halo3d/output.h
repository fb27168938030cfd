/* An output file that is written beside its place and takes it when it is complete. Until then the
 * file that was there stays. SIGINT, SIGTERM and SIGHUP remove the incomplete file; SIGKILL leaves
 * it, as OUT.npy.PID.part. */
#ifndef HALO3D_OUTPUT_H
#define HALO3D_OUTPUT_H

#include <stdbool.h>

struct output {
    char *place, *beside; /* NULL: none */
};

/* Makes the file beside path, and returns a descriptor for reading and writing; -1 if it failed.
 * There is at most one at a time. */
int output_make(const char *path, struct output *output);

bool output_put_in_place(struct output *output);

/* Removes the file, unless it was put in its place. */
void output_end(struct output *output);

#endif
