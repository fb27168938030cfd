#include "options.h"

#include "complain.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: halo3d [options] FIELD.npy OUT.npy\n"
    "\n"
    "Lets heat spread through the periodic 3-D field in FIELD.npy (float64, C order), which is\n"
    "divided among processes that exchange the faces of their blocks through UCX, and writes the\n"
    "result to OUT.npy. Then compares it, bit for bit, with what one process alone computes.\n"
    "\n"
    "  --processes N       processes to start (2)\n"
    "  --grid XxYxZ        how they divide the field (chosen for the least surface)\n"
    "  --iterations N      time steps (100)\n"
    "  --method METHOD     how faces are sent: pack (in pieces, by UCD), iov (segments, by UCX),\n"
    "                      pipeline (by libucd-ucx), or auto: pack or iov, decided for each face\n"
    "                      by its layout (auto)\n"
    "  --iov-threshold N   auto: mean segment, in bytes, from which a face goes as iov (4096)\n"
    "  --piece N           bytes per piece (65536)\n"
    "  --window N          pieces of a process that may be on the wire at once (8)\n"
    "  --hosts NAME,...    network namespaces (ip netns) that the processes live in by turns:\n"
    "                      hosts of their own, as far as TCP is concerned\n"
    "  --trace FILE        write every pack, post, completion and unpack; - is standard output\n"
    "  --timeout N         give up after so many seconds (300)\n"
    "  --transfer-timeout N\n"
    "                      fail when a transfer makes no progress for so many seconds, such as 2.5;\n"
    "                      0 is never (60)\n"
    "  --patience N        when a process has failed, let the others find out for so many seconds\n"
    "                      before they are ended (0)\n"
    "  --no-check          leave out the comparison\n"
    "  --help              this text\n"
    "\n"
    "Exit status: 0 if all went well and the results are identical, else 1; 2 for wrong usage.\n";

static bool parse_number(const char *name, const char *text, long low, long high, long *number) {
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE || *number < low || *number > high)
        return complain("--%s is '%s'; it must be a number from %ld to %ld", name, text, low, high);
    return true;
}

/* Such as 2 or 2.5: what libucd-ucx takes. */
static bool is_seconds(const char *name, const char *text) {
    const size_t whole = strspn(text, "0123456789");
    const size_t fraction = text[whole] == '.' ? 1 + strspn(text + whole + 1, "0123456789") : 0;
    if (whole > 0 && whole <= 6 && fraction != 1 && text[whole + fraction] == '\0') return true;
    return complain("--%s is '%s'; it must be seconds, such as 2.5", name, text);
}

static bool parse_grid(const char *text, int grid[3]) {
    int length = 0;
    if (sscanf(text, "%4dx%4dx%4d%n", &grid[0], &grid[1], &grid[2], &length) != 3 ||
        text[length] != '\0' || grid[0] < 1 || grid[1] < 1 || grid[2] < 1)
        return complain("--grid is '%s'; it must be three numbers, such as 2x1x1", text);
    return true;
}

static bool parse_method(const char *text, struct options *options) {
    options->decide = strcmp(text, "auto") == 0;
    if (options->decide) return true;
    if (strcmp(text, "pack") == 0)
        options->method = METHOD_PACK;
    else if (strcmp(text, "iov") == 0)
        options->method = METHOD_IOV;
    else if (strcmp(text, "pipeline") == 0)
        options->method = METHOD_PIPELINE;
    else
        return complain("--method is '%s'; it must be auto, pack, iov or pipeline", text);
    return true;
}

static bool take(int which, const char *name, const char *value, struct options *options) {
    long number = 0;
    switch (which) {
    case 'p':
        if (!parse_number(name, value, 1, 1024, &number)) return false;
        options->processes = (int)number;
        return true;
    case 'g': return parse_grid(value, options->grid);
    case 'i':
        if (!parse_number(name, value, 0, 1000000, &number)) return false;
        options->iterations = (int)number;
        return true;
    case 'm': return parse_method(value, options);
    case 'v':
        if (!parse_number(name, value, 0, 1L << 30, &number)) return false;
        options->iov_threshold = (size_t)number;
        return true;
    case 'b':
        if (!parse_number(name, value, 64, 1L << 24, &number)) return false;
        options->piece_bytes = (size_t)number;
        return true;
    case 'w':
        if (!parse_number(name, value, 1, 4096, &number)) return false;
        options->window = (int)number;
        return true;
    case 'o': options->hosts = value; return true;
    case 't': options->trace = value; return true;
    case 's':
        if (!parse_number(name, value, 1, 1000000, &number)) return false;
        options->timeout_seconds = (int)number;
        return true;
    case 'x': options->transfer_timeout = value; return is_seconds(name, value);
    case 'e':
        if (!parse_number(name, value, 0, 1000000, &number)) return false;
        options->patience_seconds = (int)number;
        return true;
    case 'n': options->check = false; return true;
    default: return false; /* getopt_long has said why */
    }
}

enum parsed options_parse(int argc, char **argv, struct options *options) {
    static const struct option names[] = {
        {"processes", required_argument, NULL, 'p'},
        {"grid", required_argument, NULL, 'g'},
        {"iterations", required_argument, NULL, 'i'},
        {"method", required_argument, NULL, 'm'},
        {"iov-threshold", required_argument, NULL, 'v'},
        {"piece", required_argument, NULL, 'b'},
        {"window", required_argument, NULL, 'w'},
        {"hosts", required_argument, NULL, 'o'},
        {"trace", required_argument, NULL, 't'},
        {"timeout", required_argument, NULL, 's'},
        {"transfer-timeout", required_argument, NULL, 'x'},
        {"patience", required_argument, NULL, 'e'},
        {"no-check", no_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct options){
        .processes = 2,
        .iterations = 100,
        .decide = true,
        .iov_threshold = 4096,
        .piece_bytes = 65536,
        .window = 8,
        .timeout_seconds = 300,
        .transfer_timeout = "60",
        .check = true,
    };

    int which, index = 0;
    while ((which = getopt_long(argc, argv, "", names, &index)) != -1) {
        if (which == 'h') {
            fputs(usage, stdout);
            return PARSED_HELP;
        }
        if (!take(which, which == '?' ? "" : names[index].name, optarg, options)) {
            fputs("halo3d --help lists the options\n", stderr);
            return PARSED_WRONG;
        }
    }
    if (argc - optind != 2) {
        fputs(usage, stderr);
        return PARSED_WRONG;
    }
    options->input = argv[optind];
    options->output = argv[optind + 1];
    return PARSED_RUN;
}
