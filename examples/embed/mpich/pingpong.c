/*
 * Two processes send ten noncontiguous layouts there and back, of several sizes. Each line is a
 * layout, its packed bytes, and the median of half a round trip in microseconds. Two builds of
 * MPICH are compared by running it with both, in turns (README.md).
 *
 *     mpicc -O2 pingpong.c -o pingpong
 *     mpiexec -n 2 ./pingpong [BYTES...]
 */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 10, LEAST_ROUNDS = 30, MOST_ROUNDS = 3000 };
static const double seconds_of_layout = 0.25;

static void fail(const char *why) {
    fprintf(stderr, "pingpong: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void *allocated(void *memory) {
    if (memory == NULL) fail("no memory");
    return memory;
}

/* Layouts: each of about this many doubles ------------------------------------------------------
 */

static MPI_Datatype freed(MPI_Datatype *old, MPI_Datatype made) {
    MPI_Type_free(old);
    return made;
}

static MPI_Datatype vector_of(int doubles, int length) {
    MPI_Datatype type;
    MPI_Type_vector(doubles / length, length, 2 * length, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype vector_8(int doubles) {
    return vector_of(doubles, 1);
}

static MPI_Datatype vector_64(int doubles) {
    return vector_of(doubles, 8);
}

/* The largest edge of a box in this many dimensions that has no more elements. */
static int edge_of(int elements, int dimensions) {
    int edge = 1;
    for (;; ++edge) {
        long long volume = 1;
        for (int d = 0; d < dimensions; ++d) volume *= edge + 1;
        if (volume > elements) return edge;
    }
}

/* The inside of a box that is wider by one element on each side. */
static MPI_Datatype inside_of_box(int doubles, int dimensions) {
    const int edge = edge_of(doubles, dimensions);
    int all[3], inside[3], first[3];
    for (int d = 0; d < dimensions; ++d) {
        all[d] = edge + 2;
        inside[d] = edge;
        first[d] = 1;
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(dimensions, all, inside, first, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype subarray_2d(int doubles) {
    return inside_of_box(doubles, 2);
}

static MPI_Datatype subarray_3d(int doubles) {
    return inside_of_box(doubles, 3);
}

/* Gaps of 1 to 8 doubles, in no order. */
static int gap(int block) {
    return 1 + (int)(((unsigned)block * 2654435761u) >> 29);
}

static MPI_Datatype indexed_block(int doubles) {
    const int length = 4, blocks = doubles / length;
    int *displacements = allocated(malloc((size_t)blocks * sizeof(int)));
    for (int b = 0, at = 0; b < blocks; at += length + gap(b++)) displacements[b] = at;
    MPI_Datatype type;
    MPI_Type_create_indexed_block(blocks, length, displacements, MPI_DOUBLE, &type);
    free(displacements);
    return type;
}

static MPI_Datatype indexed(int doubles) {
    int *lengths = allocated(malloc((size_t)doubles * sizeof(int)));
    int *displacements = allocated(malloc((size_t)doubles * sizeof(int)));
    int blocks = 0;
    for (int taken = 0, at = 0; taken < doubles; ++blocks) {
        const int wanted = gap(3 * blocks + 1), left = doubles - taken;
        lengths[blocks] = wanted < left ? wanted : left;
        displacements[blocks] = at;
        taken += lengths[blocks];
        at += lengths[blocks] + gap(blocks);
    }
    MPI_Datatype type;
    MPI_Type_indexed(blocks, lengths, displacements, MPI_DOUBLE, &type);
    free(displacements);
    free(lengths);
    return type;
}

/* Structs with three members of four, one after the other. */
struct particle {
    double position[3];
    int kind;
    float charge;
    double not_sent;
    double mass;
};

static MPI_Datatype structure(int doubles) {
    const int lengths[] = {3, 1, 1}, structs = (doubles + 4) / 5;
    const MPI_Aint displacements[] = {offsetof(struct particle, position),
                                      offsetof(struct particle, kind),
                                      offsetof(struct particle, mass)};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE};
    MPI_Datatype members, one, type;
    MPI_Type_create_struct(3, lengths, displacements, types, &members);
    MPI_Type_create_resized(members, 0, sizeof(struct particle), &one);
    MPI_Type_contiguous(structs, freed(&members, one), &type);
    return freed(&one, type);
}

static MPI_Datatype nested_vector(int doubles) {
    MPI_Datatype inner, type;
    MPI_Type_vector(16, 2, 3, MPI_DOUBLE, &inner);
    MPI_Type_create_hvector(doubles / 32, 1, 64 * sizeof(double), inner, &type);
    return freed(&inner, type);
}

/* The columns of a square matrix, one after the other. */
static MPI_Datatype transposed(int doubles) {
    const int edge = edge_of(doubles, 2);
    MPI_Datatype column, narrow, type;
    MPI_Type_vector(edge, 1, edge, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &narrow);
    MPI_Type_contiguous(edge, freed(&column, narrow), &type);
    return freed(&narrow, type);
}

/* A double and an int, as a compiler lays them out. */
static MPI_Datatype struct_with_gap(int doubles) {
    MPI_Datatype type;
    MPI_Type_contiguous(2 * doubles / 3, MPI_DOUBLE_INT, &type);
    return type;
}

static const struct {
    const char *name;
    MPI_Datatype (*make)(int doubles);
} layouts[] = {
    {"vector of 8 bytes", vector_8},
    {"vector of 64 bytes", vector_64},
    {"subarray 2-D", subarray_2d},
    {"subarray 3-D", subarray_3d},
    {"indexed_block of 32 bytes", indexed_block},
    {"indexed of 8 to 64 bytes", indexed},
    {"struct", structure},
    {"vector of vectors", nested_vector},
    {"transposed matrix", transposed},
    {"struct with a gap", struct_with_gap},
};

/* One layout ------------------------------------------------------------------------------------
 */

struct pair {
    int rank;
    MPI_Datatype type;
    size_t span;    /* from the first byte of the layout to its last */
    MPI_Aint first; /* where the first is */
    unsigned char *out, *in;
};

/* Never 0. */
static unsigned char byte_at(size_t i) {
    return (unsigned char)(1 + (i * 2654435761u >> 7) % 255);
}

static void round_trip(struct pair *pair) {
    unsigned char *const out = pair->out - pair->first, *const in = pair->in - pair->first;
    if (pair->rank == 0) MPI_Send(out, 1, pair->type, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(in, 1, pair->type, 1 - pair->rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (pair->rank == 1) MPI_Send(out, 1, pair->type, 0, 0, MPI_COMM_WORLD);
}

/* As many bytes as the type has were received, each in its place, and none in a gap. */
static void check(struct pair *pair) {
    memset(pair->in, 0, pair->span);
    for (size_t i = 0; i < pair->span; ++i) pair->out[i] = byte_at(i);
    round_trip(pair);
    int bytes;
    MPI_Type_size(pair->type, &bytes);
    size_t received = 0;
    for (size_t i = 0; i < pair->span; ++i) {
        if (pair->in[i] == 0) continue;
        if (pair->in[i] != byte_at(i)) fail("a byte is not where it was sent from");
        ++received;
    }
    if (received != (size_t)bytes) fail("too few bytes, or too many");
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half a round trip, in microseconds: the median, and what a tenth of the rounds is faster than. */
struct result {
    double median, tenth;
};

/* Both processes make as many rounds: the first decides. */
static struct result measured(struct pair *pair) {
    static double times[MOST_ROUNDS];
    const double begin = MPI_Wtime();
    for (int i = 0; i < WARM_UP; ++i) round_trip(pair);
    int rounds = (int)(seconds_of_layout * WARM_UP / (MPI_Wtime() - begin));
    if (rounds < LEAST_ROUNDS) rounds = LEAST_ROUNDS;
    if (rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < rounds; ++i) {
        const double start = MPI_Wtime();
        round_trip(pair);
        times[i] = (MPI_Wtime() - start) * 1e6 / 2;
    }
    qsort(times, (size_t)rounds, sizeof times[0], by_value);
    return (struct result){.median = times[rounds / 2], .tenth = times[rounds / 10]};
}

static void measure(int rank, size_t layout, int doubles) {
    struct pair pair = {.rank = rank, .type = layouts[layout].make(doubles)};
    MPI_Type_commit(&pair.type);
    MPI_Aint span;
    MPI_Type_get_true_extent(pair.type, &pair.first, &span);
    pair.span = (size_t)span;
    pair.out = allocated(malloc(pair.span));
    pair.in = allocated(malloc(pair.span));
    check(&pair);
    int bytes;
    MPI_Type_size(pair.type, &bytes);
    const struct result result = measured(&pair);
    if (rank == 0) {
        printf("%-25s %9d %12.2f %12.2f\n", layouts[layout].name, bytes, result.median,
               result.tenth);
        fflush(stdout);
    }
    free(pair.in);
    free(pair.out);
    MPI_Type_free(&pair.type);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, processes;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (processes != 2) fail("needs two processes");
    static const char *const usual[] = {"1024", "16384", "262144", "4194304"};
    const int sizes = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof usual[0]);
    for (int s = 0; s < sizes; ++s) {
        const int bytes = atoi(argc > 1 ? argv[s + 1] : usual[s]);
        if (bytes < 1024) fail("sizes are numbers of bytes, from 1024 on");
        for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; ++l)
            measure(rank, l, bytes / (int)sizeof(double));
    }
    MPI_Finalize();
    return 0;
}
