// Heat, smoke and salt spread in a periodic 3-D grid that is divided among processes. Each process
// has a cube of cells with one more layer around it, for its neighbours' cells, and exchanges the
// six faces of the cube before each step.
//
//     mpirun -n 4 halo [CELLS [STEPS]]     CELLS: along an edge of each process's cube
//
// First the heat alone, by persistent requests; then all three in one message for each face.
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z, axes };
enum { faces = 2 * axes };

static const double pi = 3.14159265358979323846;
static int n = 64, steps = 20;            // cells along an edge, without the layer around
static int dims[axes], place[axes], rank; // the grid of processes
static int neighbour[faces];              // below and above, on each axis
static MPI_Comm grid;
static double exchange_time;

// What a process has, at one time: all arrays are [n + 2][n + 2][n + 2].
struct state {
    double *heat;
    float *smoke;
    double *salt;
};

static size_t at(int x, int y, int z) {
    const size_t edge = (size_t)n + 2;
    return (x * edge + y) * edge + z;
}

// The cells that are sent to a neighbour, or the layer that is received from it.
static MPI_Datatype face_type(int face, int is_sent, MPI_Datatype element) {
    const int axis = face / 2, above = face % 2;
    const int sizes[axes] = {n + 2, n + 2, n + 2};
    int subsizes[axes] = {n, n, n}, starts[axes] = {1, 1, 1};
    subsizes[axis] = 1;
    starts[axis] = is_sent ? (above ? n : 1) : (above ? n + 1 : 0);
    MPI_Datatype type;
    MPI_Type_create_subarray(axes, sizes, subsizes, starts, MPI_ORDER_C, element, &type);
    MPI_Type_commit(&type);
    return type;
}

// The face in all three arrays, by their addresses: one message with MPI_BOTTOM as its buffer.
static MPI_Datatype faces_type(int face, int is_sent, const struct state *s) {
    const int ones[3] = {1, 1, 1};
    MPI_Datatype parts[3] = {face_type(face, is_sent, MPI_DOUBLE),
                             face_type(face, is_sent, MPI_FLOAT),
                             face_type(face, is_sent, MPI_DOUBLE)};
    MPI_Aint addresses[3];
    MPI_Get_address(s->heat, &addresses[0]);
    MPI_Get_address(s->smoke, &addresses[1]);
    MPI_Get_address(s->salt, &addresses[2]);
    MPI_Datatype type;
    MPI_Type_create_struct(3, ones, addresses, parts, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 3; ++i) MPI_Type_free(&parts[i]);
    return type;
}

#define SPREAD(to, from, rate)                                                                     \
    for (int x = 1; x <= n; ++x)                                                                   \
        for (int y = 1; y <= n; ++y)                                                               \
            for (int z = 1; z <= n; ++z)                                                           \
    (to)[at(x, y, z)] =                                                                            \
        (from)[at(x, y, z)] +                                                                      \
        (rate) * ((from)[at(x - 1, y, z)] + (from)[at(x + 1, y, z)] + (from)[at(x, y - 1, z)] +    \
                  (from)[at(x, y + 1, z)] + (from)[at(x, y, z - 1)] + (from)[at(x, y, z + 1)] -    \
                  6 * (from)[at(x, y, z)])

// One wave along each axis of the whole grid. It keeps its form and only becomes lower.
static double wave(int x, int y, int z) {
    const int cell[axes] = {x - 1, y - 1, z - 1};
    double product = 1;
    for (int i = 0; i < axes; ++i)
        product *= cos(2 * pi * (cell[i] + place[i] * n) / (dims[i] * n));
    return product;
}
static double height(double rate) {
    double change = 0;
    for (int i = 0; i < axes; ++i) change += 2 * rate * (cos(2 * pi / (dims[i] * n)) - 1);
    return pow(1 + change, steps);
}

static struct state new_state(int filled) {
    const size_t cells = at(n + 1, n + 1, n + 1) + 1;
    struct state s = {calloc(cells, sizeof(double)), calloc(cells, sizeof(float)),
                      calloc(cells, sizeof(double))};
    if (!s.heat || !s.smoke || !s.salt) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int x = 1; filled && x <= n; ++x)
        for (int y = 1; y <= n; ++y)
            for (int z = 1; z <= n; ++z) {
                s.heat[at(x, y, z)] = wave(x, y, z);
                s.smoke[at(x, y, z)] = (float)wave(x, y, z);
                s.salt[at(x, y, z)] = -wave(x, y, z);
            }
    return s;
}
static void free_state(struct state *s) {
    free(s->heat);
    free(s->smoke);
    free(s->salt);
}

static uint64_t mix(uint64_t sum, uint64_t bits) {
    return (sum ^ bits) * 0x9e3779b97f4a7c15u;
}

// A checksum of the bits of all cells, and the largest difference from what must come out.
static void report(const char *what, const struct state *s, int all) {
    double largest[2] = {0, 0};
    uint64_t sum = (uint64_t)rank + 1, total = 0;
    for (int x = 1; x <= n; ++x)
        for (int y = 1; y <= n; ++y)
            for (int z = 1; z <= n; ++z) {
                const size_t i = at(x, y, z);
                uint64_t bits[3] = {0, 0, 0};
                memcpy(&bits[0], &s->heat[i], sizeof(double));
                memcpy(&bits[1], &s->smoke[i], sizeof(float));
                memcpy(&bits[2], &s->salt[i], sizeof(double));
                for (int k = 0; k < (all ? 3 : 1); ++k) sum = mix(sum, bits[k]);
                const double w = wave(x, y, z);
                largest[0] = fmax(largest[0], fabs(s->heat[i] - w * height(0.1)));
                if (!all) continue;
                largest[0] = fmax(largest[0], fabs(s->salt[i] + w * height(0.15)));
                largest[1] = fmax(largest[1], fabs(s->smoke[i] - w * height(0.05)));
            }
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_BXOR, 0, grid);
    MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, grid);
    const int right =
        largest[0] < 100 * DBL_EPSILON * steps && largest[1] < 10 * FLT_EPSILON * steps;
    if (rank == 0)
        printf("%s: checksum %016llx, largest errors %g and %g: %s\n", what,
               (unsigned long long)total, largest[0], largest[1], right ? "right" : "WRONG");
    if (!right) MPI_Abort(MPI_COMM_WORLD, 1);
}

// A message that goes down arrives from above. Tags tell faces apart: both neighbours may be one
// process, or this one.
static void run_one_field(void) {
    struct state s[2] = {new_state(1), new_state(0)};
    MPI_Request requests[2][2 * faces];
    for (int i = 0; i < 2; ++i)
        for (int face = 0; face < faces; ++face) {
            MPI_Datatype in = face_type(face, 0, MPI_DOUBLE), out = face_type(face, 1, MPI_DOUBLE);
            MPI_Recv_init(s[i].heat, 1, in, neighbour[face], face ^ 1, grid, &requests[i][face]);
            MPI_Send_init(s[i].heat, 1, out, neighbour[face], face, grid,
                          &requests[i][faces + face]);
            MPI_Type_free(&in); // the requests still have it
            MPI_Type_free(&out);
        }
    for (int step = 0; step < steps; ++step) {
        const int now = step % 2;
        const double begin = MPI_Wtime();
        MPI_Startall(2 * faces, requests[now]);
        MPI_Waitall(2 * faces, requests[now], MPI_STATUSES_IGNORE);
        exchange_time += MPI_Wtime() - begin;
        SPREAD(s[1 - now].heat, s[now].heat, 0.1);
    }
    report("one field", &s[steps % 2], 0);
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 2 * faces; ++k) MPI_Request_free(&requests[i][k]);
        free_state(&s[i]);
    }
}

static void run_three_fields(void) {
    struct state s[2] = {new_state(1), new_state(0)};
    MPI_Datatype in[2][faces], out[2][faces];
    for (int i = 0; i < 2; ++i)
        for (int face = 0; face < faces; ++face) {
            in[i][face] = faces_type(face, 0, &s[i]);
            out[i][face] = faces_type(face, 1, &s[i]);
        }
    for (int step = 0; step < steps; ++step) {
        const int now = step % 2;
        MPI_Request requests[2 * faces];
        const double begin = MPI_Wtime();
        for (int face = 0; face < faces; ++face)
            MPI_Irecv(MPI_BOTTOM, 1, in[now][face], neighbour[face], face ^ 1, grid,
                      &requests[face]);
        for (int face = 0; face < faces; ++face)
            MPI_Isend(MPI_BOTTOM, 1, out[now][face], neighbour[face], face, grid,
                      &requests[faces + face]);
        MPI_Waitall(2 * faces, requests, MPI_STATUSES_IGNORE);
        exchange_time += MPI_Wtime() - begin;
        SPREAD(s[1 - now].heat, s[now].heat, 0.1);
        SPREAD(s[1 - now].smoke, s[now].smoke, 0.05f);
        SPREAD(s[1 - now].salt, s[now].salt, 0.15);
    }
    report("three fields", &s[steps % 2], 1);
    for (int i = 0; i < 2; ++i) {
        for (int face = 0; face < faces; ++face) {
            MPI_Type_free(&in[i][face]);
            MPI_Type_free(&out[i][face]);
        }
        free_state(&s[i]);
    }
}

int main(int argc, char **argv) {
    int processes;
    const int periodic[axes] = {1, 1, 1};
    double times[2];
    MPI_Init(&argc, &argv);
    if (argc > 1) n = atoi(argv[1]);
    if (argc > 2) steps = atoi(argv[2]);
    if (n < 1 || n > 1000 || steps < 1) {
        fprintf(stderr, "usage: halo [CELLS [STEPS]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Dims_create(processes, axes, dims);
    MPI_Cart_create(MPI_COMM_WORLD, axes, dims, periodic, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, axes, place);
    for (int axis = 0; axis < axes; ++axis)
        MPI_Cart_shift(grid, axis, 1, &neighbour[2 * axis], &neighbour[2 * axis + 1]);

    run_one_field();
    times[0] = exchange_time;
    exchange_time = 0;
    run_three_fields();
    times[1] = exchange_time;
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, grid);
    if (rank == 0)
        printf("time: %.3f ms for an exchange of one field, %.3f ms of three\n",
               times[0] / steps * 1e3, times[1] / steps * 1e3);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
