#include "options.h"

#include "../fail.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const path_names[PATHS] = {"auto", "direct", "ring", "host"};

static const char usage[] =
    "usage: gpu_pingpong [options]\n"
    "\n"
    "Two processes send data between their GPUs' memories, there and back, by libucd-ucx, and "
    "tell\n"
    "how fast. Options with an asterisk take several values with commas between; all combinations\n"
    "are measured. Sizes may end in k, m or g.\n"
    "\n"
    "  --devices I,J        the first process's GPU and the second's, which may be the same (0,0)\n"
    "  --layout NAME*       vector, indexed, contiguous-to-vector, transpose, faces, struct, or "
    "all\n"
    "                       (all)\n"
    "  --bytes N*           packed bytes of a message (64m)\n"
    "  --fragment N*        bytes of a fragment on the way (8m)\n"
    "  --depth N*           fragments that are on their way at a time (8)\n"
    "  --path NAME*         direct: the receiver's GPU reads the sender's layout; ring: through\n"
    "                       device memory that the receiver opens; host: through pinned memory of\n"
    "                       the host; auto: what the library chooses (ring,host)\n"
    "  --block N            bytes of a vector's blocks (128)\n"
    "  --stride N           bytes from one block to the next (twice --block)\n"
    "  --memory NAME*       where the data is: malloc; on NVIDIA's GPUs also vmm, in pieces of\n"
    "                       physical memory that are mapped one behind the other; pool, of a\n"
    "                       stream-ordered pool; managed (malloc)\n"
    "  --piece N            bytes of a piece: a multiple of 2m (2m)\n"
    "  --repeat N           round trips that are measured; the median counts (20)\n"
    "  --only-pipeline      do not measure what it is compared with\n"
    "  --backend NAME       whose GPUs (cuda)\n"
    "  --help               this text\n"
    "\n"
    "Exit status: 0 if all data was as sent; 1 if not, or if something failed; 2 for wrong "
    "usage.\n";

static _Noreturn void wrong(const char *name, const char *value, const char *rule) {
    fprintf(stderr, "gpu_pingpong: --%s is '%s'; it must be %s\n", name, value, rule);
    exit(2);
}

static size_t parse_size(const char *name, const char *text, const char **end) {
    char *after;
    errno = 0;
    unsigned long long value = strtoull(text, &after, 10);
    const char *suffixes = "kmg", *found = *after != '\0' ? strchr(suffixes, *after) : NULL;
    if (after == text || *text == '-' || errno != 0 || value == 0 || value > 1ull << 36)
        wrong(name, text, "a size, such as 64m");
    if (found != NULL) {
        value <<= 10 * (found - suffixes + 1);
        ++after;
    }
    *end = after;
    return (size_t)value;
}

static void parse_list(const char *name, const char *text, struct list *list) {
    list->count = 0;
    for (const char *at = text;; ++at) {
        if (list->count == MOST_VALUES) wrong(name, text, "at most 16 sizes");
        list->values[list->count++] = parse_size(name, at, &at);
        if (*at == '\0') return;
        if (*at != ',') wrong(name, text, "sizes with commas between, such as 1m,64m");
    }
}

/* Sets the flags of the names that the text lists. */
static void parse_names(const char *name, const char *text, int count, const char *const *names,
                        bool *const *flags, const char *rule) {
    for (int i = 0; i < count; ++i) *flags[i] = false;
    for (const char *at = text;;) {
        const size_t length = strcspn(at, ",");
        bool known = false;
        for (int i = 0; i < count; ++i)
            if (strlen(names[i]) == length && strncmp(names[i], at, length) == 0)
                known = *flags[i] = true;
        if (!known) wrong(name, text, rule);
        if (at[length] == '\0') return;
        at += length + 1;
    }
}

static void parse_layouts(const char *text, struct options *options) {
    bool *flags[LAYOUTS];
    for (int i = 0; i < LAYOUTS; ++i) flags[i] = &options->layouts[i];
    if (strcmp(text, "all") == 0)
        for (int i = 0; i < LAYOUTS; ++i) *flags[i] = true;
    else
        parse_names(
            "layout", text, LAYOUTS, layout_names, flags,
            "all, or of vector, indexed, contiguous-to-vector, transpose, faces and struct");
}

static void parse_memories(const char *text, struct options *options) {
    bool *flags[MEMORY_KINDS];
    for (int i = 0; i < MEMORY_KINDS; ++i) flags[i] = &options->memories[i];
    parse_names("memory", text, MEMORY_KINDS, memory_names, flags,
                "of malloc, vmm, pool and managed");
}

/* A multiple of `unit`. */
static size_t parse_multiple(const char *name, const char *text, size_t unit, const char *rule) {
    const char *end;
    const size_t size = parse_size(name, text, &end);
    if (*end != '\0' || size % unit != 0) wrong(name, text, rule);
    return size;
}

static int parse_repeats(const char *text) {
    const char *end;
    const size_t number = parse_size("repeat", text, &end);
    if (*end != '\0' || number > 100000) wrong("repeat", text, "a number up to 100000");
    return (int)number;
}

static void take(int which, const char *value, struct options *o) {
    bool *path_flags[PATHS];
    for (int i = 0; i < PATHS; ++i) path_flags[i] = &o->paths[i];
    int length = 0;
    switch (which) {
    case 'v':
        if (sscanf(value, "%3d,%3d%n", &o->devices[0], &o->devices[1], &length) != 2 ||
            value[length] != '\0' || o->devices[0] < 0 || o->devices[1] < 0)
            wrong("devices", value, "two numbers, such as 0,1");
        return;
    case 'l': parse_layouts(value, o); return;
    case 'b': parse_list("bytes", value, &o->bytes); return;
    case 'f': parse_list("fragment", value, &o->fragments); return;
    case 'd': parse_list("depth", value, &o->depths); return;
    case 'p':
        parse_names("path", value, PATHS, path_names, path_flags, "of auto, direct, ring and host");
        return;
    case 'm': parse_memories(value, o); return;
    case 'i': o->piece = parse_multiple("piece", value, 2 << 20, "a multiple of 2m"); return;
    case 'k': o->block = parse_multiple("block", value, sizeof(double), "a multiple of 8"); return;
    case 's':
        o->stride = parse_multiple("stride", value, sizeof(double), "a multiple of 8");
        return;
    case 'r': o->repeats = parse_repeats(value); return;
    case 'o': o->only_pipeline = true; return;
    case 'g': o->backend = value; return;
    case 'h': fputs(usage, stdout); exit(0);
    default: /* getopt_long has said why */
        fputs("gpu_pingpong --help lists the options\n", stderr);
        exit(2);
    }
}

void options_parse(int argc, char **argv, struct options *options) {
    static const struct option names[] = {
        {"devices", required_argument, NULL, 'v'},
        {"layout", required_argument, NULL, 'l'},
        {"bytes", required_argument, NULL, 'b'},
        {"fragment", required_argument, NULL, 'f'},
        {"depth", required_argument, NULL, 'd'},
        {"path", required_argument, NULL, 'p'},
        {"block", required_argument, NULL, 'k'},
        {"stride", required_argument, NULL, 's'},
        {"memory", required_argument, NULL, 'm'},
        {"piece", required_argument, NULL, 'i'},
        {"repeat", required_argument, NULL, 'r'},
        {"only-pipeline", no_argument, NULL, 'o'},
        {"backend", required_argument, NULL, 'g'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct options){
        .backend = "cuda",
        .layouts = {true, true, true, true, true, true},
        .memories = {[MEMORY_MALLOC] = true},
        .piece = 2 << 20,
        .bytes = {{64 << 20}, 1},
        .fragments = {{8 << 20}, 1},
        .depths = {{8}, 1},
        .paths = {[PATH_RING] = true, [PATH_HOST] = true},
        .block = 128,
        .repeats = 20,
    };
    int which;
    while ((which = getopt_long(argc, argv, "", names, NULL)) != -1) take(which, optarg, options);
    if (options->stride == 0) options->stride = 2 * options->block;
    if (options->stride < options->block) wrong("stride", "less", "at least --block");
    if (optind < argc) {
        fprintf(stderr, "gpu_pingpong: '%s' is no option\n", argv[optind]);
        exit(2);
    }
}
