/* The command line. */
#ifndef HALO3D_OPTIONS_H
#define HALO3D_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* How a face is sent. */
enum method {
    METHOD_PACK,    /* packed by UCD into buffers, piece by piece */
    METHOD_IOV,     /* as a list of its segments: the transport gathers them */
    METHOD_DIRECT,  /* from where it lies: it is contiguous */
    METHOD_PIPELINE /* by libucd-ucx, which does what is done here by hand */
};

struct options {
    const char *input, *output;
    int processes;
    int grid[3]; /* 0 0 0: to be chosen */
    int iterations;
    bool decide;        /* choose the method of each face by its layout; else: */
    enum method method; /* for all faces, PACK, IOV or PIPELINE */
    size_t iov_threshold;
    size_t piece_bytes;
    int window;        /* pieces that may be on the wire at once */
    const char *hosts; /* NULL: this one; else network namespaces, separated by commas */
    const char *trace; /* NULL: none; "-": standard output */
    int timeout_seconds;
    int patience_seconds;         /* for the others, when a process has failed */
    const char *transfer_timeout; /* seconds, as libucd-ucx takes them */
    bool check;
};

enum parsed { PARSED_RUN, PARSED_HELP, PARSED_WRONG };
enum parsed options_parse(int argc, char **argv, struct options *options);

#endif
