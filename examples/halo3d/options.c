#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: halo3d --rank N --processes N --team FILE --shape XxYxZ [options] FIELD\n"
    "\n"
    "One of the processes that let heat spread through the periodic 3-D field in the file FIELD,\n"
    "doubles in C order. Each owns a block of the field, exchanges its faces with its neighbours\n"
    "through UCX in each step, and writes the result to FIELD. run.py starts them.\n"
    "\n"
    "  --rank N            which of the processes this one is, from 0\n"
    "  --processes N       how many there are\n"
    "  --team FILE         by which they find each other; it does not exist before the first "
    "starts\n"
    "  --shape XxYxZ       cells of the field\n"
    "  --grid XxYxZ        how the processes divide the field (chosen for the least surface)\n"
    "  --steps N           time steps (100)\n"
    "  --piece N           bytes of the pieces in which a face is packed and sent (chosen by\n"
    "                      libucd-ucx)\n"
    "  --memory DEVICE     where the block is, such as cuda:0 (host)\n"
    "  --patience N        seconds after which it gives up waiting for the other processes (60)\n"
    "  --help              this text\n";

static _Noreturn void refuse(const char *name, const char *value, const char *rule) {
    fprintf(stderr, "halo3d: --%s is '%s'; it must be %s\n", name, value, rule);
    exit(2);
}

static long number(const char *name, const char *text, long low, long high) {
    char *end, rule[80];
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno != ERANGE && value >= low && value <= high)
        return value;
    snprintf(rule, sizeof rule, "a number from %ld to %ld", low, high);
    refuse(name, text, rule);
}

static void three_numbers(const char *name, const char *text, intptr_t numbers[3]) {
    long long n[3];
    int length = 0;
    if (sscanf(text, "%lldx%lldx%lld%n", &n[0], &n[1], &n[2], &length) != 3 ||
        text[length] != '\0' || n[0] < 1 || n[1] < 1 || n[2] < 1)
        refuse(name, text, "three numbers from 1, such as 4x2x1");
    for (int i = 0; i < 3; i++) numbers[i] = (intptr_t)n[i];
}

static void take(int which, const char *name, const char *value, struct options *options) {
    intptr_t grid[3];
    switch (which) {
    case 'r': options->rank = (int)number(name, value, 0, 1023); break;
    case 'p': options->processes = (int)number(name, value, 1, 1024); break;
    case 't': options->team = value; break;
    case 's': three_numbers(name, value, options->shape); break;
    case 'g':
        three_numbers(name, value, grid);
        for (int i = 0; i < 3; i++)
            options->grid[i] = grid[i] > 1024 ? 1025 : (int)grid[i]; /* too many in either case */
        break;
    case 'n': options->steps = (int)number(name, value, 1, 1000000); break;
    case 'b': options->piece_bytes = (size_t)number(name, value, 64, 1L << 24); break;
    case 'm': options->memory = strcmp(value, "host") == 0 ? NULL : value; break;
    case 'w': options->patience_seconds = (int)number(name, value, 1, 1000000); break;
    case 'h': fputs(usage, stdout); exit(0);
    default: exit(2); /* getopt_long has said why */
    }
}

struct options options_parse(int argc, char **argv) {
    static const struct option names[] = {
        {"rank", required_argument, NULL, 'r'},
        {"processes", required_argument, NULL, 'p'},
        {"team", required_argument, NULL, 't'},
        {"shape", required_argument, NULL, 's'},
        {"grid", required_argument, NULL, 'g'},
        {"steps", required_argument, NULL, 'n'},
        {"piece", required_argument, NULL, 'b'},
        {"memory", required_argument, NULL, 'm'},
        {"patience", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.rank = -1, .steps = 100, .patience_seconds = 60};
    int which, index = 0;
    while ((which = getopt_long(argc, argv, "", names, &index)) != -1)
        take(which, names[index].name, optarg, &options);
    if (options.rank < 0 || options.rank >= options.processes || options.team == NULL ||
        options.shape[0] == 0 || optind + 1 != argc) {
        fputs(usage, stderr);
        exit(2);
    }
    options.field = argv[optind];
    return options;
}
