/* halo3d: heat spreads through a 3-D field that is divided among processes of one machine, which
 * exchange the faces of their blocks through UCX while UCD packs and unpacks them. See options.c
 * for its use, and halo.c for the exchange. */
#include "complain.h"
#include "process.h"
#include "report.h"
#include "stencil.h"
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void watch(void *argument) {
    progress_show(argument);
}

/* What one process alone computes, in a new array; NULL for want of memory. */
static double *reference(const struct npy *input, int iterations) {
    const size_t cells =
        (size_t)input->shape[0] * (size_t)input->shape[1] * (size_t)input->shape[2];
    double *from = malloc(cells * sizeof(double)), *to = malloc(cells * sizeof(double));
    if (!from || !to) {
        complain("no memory for two fields of %zu cells", cells);
        free(from);
        free(to);
        return NULL;
    }
    memcpy(from, input->data, cells * sizeof(double));
    for (int i = 0; i < iterations; i++) {
        stencil_periodic(input->shape, from, to);
        double *swap = from;
        from = to;
        to = swap;
    }
    free(to);
    return from;
}

static bool compare(const struct run *run) {
    const intptr_t *shape = run->input.shape;
    const size_t cells = (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2];
    printf("the same with one process, to compare ...\n");
    fflush(stdout);
    double *expected = reference(&run->input, run->options.iterations);
    if (!expected) return false;
    size_t cell = 0;
    if (memcmp(expected, run->output.data, cells * sizeof(double)) != 0)
        while (memcmp(&expected[cell], &run->output.data[cell], sizeof(double)) == 0) cell++;
    else
        cell = cells;
    free(expected);
    if (cell < cells)
        return complain("the results differ, first at cell [%zu, %zu, %zu]",
                        cell / (size_t)shape[2] / (size_t)shape[1],
                        cell / (size_t)shape[2] % (size_t)shape[1], cell % (size_t)shape[2]);
    printf("identical: %zu cells, bit for bit\n", cells);
    return true;
}

/* Writing over the input would take it away while it is being read. */
static bool different_files(const struct options *options) {
    struct stat input, output;
    if (stat(options->input, &input) != 0 || stat(options->output, &output) != 0 ||
        input.st_dev != output.st_dev || input.st_ino != output.st_ino)
        return true; /* what does not exist is found out elsewhere */
    return complain("%s and %s are the same file", options->input, options->output);
}

static bool open_trace(struct run *run) {
    const char *path = run->options.trace;
    if (!path) return true;
    run->trace = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!run->trace) return complain("%s: cannot make it: %s", path, strerror(errno));
    return trace_write_header(run->trace);
}

static bool close_trace(struct run *run) {
    if (!run->trace || run->trace == stdout) return true;
    return fclose(run->trace) == 0 ||
           complain("%s: cannot write it: %s", run->options.trace, strerror(errno));
}

static bool execute(struct run *run) {
    const struct options *options = &run->options;
    const struct grid *grid = &run->grid;
    printf("%lldx%lldx%lld cells, %d processes as %dx%dx%d, %d steps\n", (long long)grid->shape[0],
           (long long)grid->shape[1], (long long)grid->shape[2], options->processes,
           grid->processes[0], grid->processes[1], grid->processes[2], options->iterations);
    struct progress progress = progress_start(run->team, options->iterations);
    bool good = team_run(run->team, process_main, run, watch, &progress, options->timeout_seconds,
                         options->patience_seconds);
    progress_end(&progress);
    if (!good) return false;
    if (!report_print(run->team, options->iterations)) return false;
    return !options->check || compare(run);
}

int main(int argc, char **argv) {
    struct run run = {0};
    switch (options_parse(argc, argv, &run.options)) {
    case PARSED_HELP: return EXIT_SUCCESS;
    case PARSED_WRONG: return 2;
    case PARSED_RUN: break;
    }
    /* All that processes share is made before they are started, and UCX and UCD only in them. */
    bool good = different_files(&run.options) && npy_open(run.options.input, &run.input) &&
                grid_make(run.input.shape, run.options.processes, run.options.grid, &run.grid) &&
                npy_create(run.options.output, run.input.shape, &run.output) && open_trace(&run) &&
                (run.team = team_make(run.options.processes)) != NULL && execute(&run) &&
                npy_complete(&run.output);
    good = close_trace(&run) && good;
    team_free(run.team);
    npy_close(&run.output);
    npy_close(&run.input);
    if (fflush(stdout) != 0)
        good = complain("cannot write to standard output: %s", strerror(errno));
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
