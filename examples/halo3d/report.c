#include "report.h"

#include "complain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct progress progress_start(const struct team *team, int iterations) {
    return (struct progress){
        .team = team, .iterations = iterations, .terminal = isatty(STDOUT_FILENO), .shown = -1};
}

/* What all processes have done. */
static int steps_done(const struct team *team) {
    int least = atomic_load(&team->members[0].steps);
    for (int rank = 1; rank < team->size; rank++) {
        int steps = atomic_load(&team->members[rank].steps);
        if (steps < least) least = steps;
    }
    return least;
}

static int tenth(int step, int of) {
    return (int)(10LL * step / of);
}

void progress_show(struct progress *progress) {
    const int all = progress->iterations, step = steps_done(progress->team);
    if (step == progress->shown || step == 0) return;
    const int last = progress->shown < 0 ? 0 : progress->shown;
    if (!progress->terminal && tenth(step, all) == tenth(last, all)) return;
    progress->shown = step;
    printf("%sstep %d of %d, %d %%%s", progress->terminal ? "\r" : "", step, all,
           (int)(100LL * step / all), progress->terminal ? "" : "\n");
    fflush(stdout);
}

void progress_end(const struct progress *progress) {
    if (progress->terminal && progress->shown >= 0) putchar('\n');
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The medians over all steps of all processes: not the means, for a process that has to wait for a
 * core in the middle of a piece would spoil them. */
struct medians {
    double gb_per_s[MEASURES]; /* 0: nothing was done in this way */
    double ms[MEASURES];
};

static double median(double *values, size_t count) {
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

static bool find_medians(const struct team *team, int iterations, struct medians *medians) {
    const int steps = iterations < STATS_STEPS ? iterations : STATS_STEPS;
    const size_t room = (size_t)team->size * (size_t)steps + 1;
    double *rates = calloc(room, sizeof *rates), *times = calloc(room, sizeof *times);
    for (int measure = 0; measure < MEASURES && rates && times; measure++) {
        size_t count = 0;
        for (int rank = 0; rank < team->size; rank++)
            for (int step = 0; step < steps; step++) {
                const struct amount *amount = &team->members[rank].stats.steps[step][measure];
                if (amount->bytes == 0) continue;
                /* bytes per ns are GB per s; a clock may be too coarse for a few bytes */
                rates[count] = (double)amount->bytes / (double)(amount->ns ? amount->ns : 1);
                times[count++] = 1e-6 * (double)amount->ns;
            }
        medians->gb_per_s[measure] = median(rates, count);
        medians->ms[measure] = median(times, count);
    }
    const bool good = rates && times;
    free(rates);
    free(times);
    return good || complain("no memory for %zu measurements", room);
}

static void print_pieces(const struct team *team) {
    struct pieces sum = {0};
    for (int rank = 0; rank < team->size; rank++) {
        const struct pieces *pieces = &team->members[rank].stats.pieces;
        sum.sent += pieces->sent;
        sum.packed += pieces->packed;
        sum.overlapped += pieces->overlapped;
        sum.out_of_order += pieces->out_of_order;
    }
    printf("%" PRIu64 " pieces sent", sum.sent);
    if (sum.packed > 0)
        printf("; %" PRIu64 " packed, %.0f %% of them while others were on the wire", sum.packed,
               100 * (double)sum.overlapped / (double)sum.packed);
    printf("; %" PRIu64 " received out of order\n", sum.out_of_order);
}

bool report_print(const struct team *team, int iterations) {
    static const struct {
        const char *name;
        enum measure measure;
    } rows[] = {
        {"memcpy", MEASURE_MEMCPY},      {"pack", MEASURE_PACK},
        {"  x faces", MEASURE_PACK_X},   {"  y faces", MEASURE_PACK_Y},
        {"  z faces", MEASURE_PACK_Z},   {"unpack", MEASURE_UNPACK},
        {"  x faces", MEASURE_UNPACK_X}, {"  y faces", MEASURE_UNPACK_Y},
        {"  z faces", MEASURE_UNPACK_Z}, {"exchange", MEASURE_EXCHANGE},
        {"  not waiting", MEASURE_BUSY},
    };
    struct medians medians;
    if (!find_medians(team, iterations, &medians)) return false;
    printf("%-13s %10s %10s   (one process; median step)\n", "", "GB/s", "of memcpy");
    const double memcpy_rate = medians.gb_per_s[MEASURE_MEMCPY];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double rate = medians.gb_per_s[rows[i].measure];
        if (rate <= 0) continue;
        printf("%-13s %10.2f", rows[i].name, rate);
        if (memcpy_rate > 0) printf(" %8.0f %%", 100 * rate / memcpy_rate);
        putchar('\n');
    }
    printf("exchange %.2f ms per step, %.2f without waiting for neighbours; stencil %.2f ms\n",
           medians.ms[MEASURE_EXCHANGE], medians.ms[MEASURE_BUSY], medians.ms[MEASURE_STENCIL]);
    print_pieces(team);
    return true;
}
