// The Fourier transform of a 3-D array that is divided among processes, and back. Each process has
// a slab [x][y][z] of some x, transforms along z and y, gets pencils [y][z][x] of some y by one
// MPI_Alltoallw, and transforms along x. No loop of the program packs anything: the types say where
// each element goes.
//
//     mpirun -n 4 transpose [EDGE [ROUNDS]]     EDGE: a power of 2, and a multiple of the processes
#include <complex.h>
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex element;
enum { slab, pencil };

static const double pi = 3.14159265358979323846;
static int n = 32, rounds = 10, processes, rank, mine; // mine: of the divided axis
static int *counts[2], *displs[2];                     // for each process
static MPI_Datatype *types[2];

static void *allocate(size_t items, size_t bytes) {
    void *memory = calloc(items, bytes);
    if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

// What one process exchanges with another: mine * mine * n elements, ordered by x, then y, then z.
static void make_types(void) {
    for (int side = 0; side < 2; ++side) {
        counts[side] = allocate(processes, sizeof(int));
        displs[side] = allocate(processes, sizeof(int));
        types[side] = allocate(processes, sizeof(MPI_Datatype));
    }
    MPI_Datatype all, one_x;
    // Of a pencil: the elements of all y and z for one x; the next x begins one element later.
    MPI_Type_vector(mine * n, 1, n, MPI_C_DOUBLE_COMPLEX, &all);
    MPI_Type_create_resized(all, 0, sizeof(element), &one_x);
    MPI_Type_commit(&one_x);
    MPI_Type_free(&all);
    for (int p = 0; p < processes; ++p) {
        const int sizes[3] = {mine, n, n}, subsizes[3] = {mine, mine, n},
                  starts[3] = {0, p * mine, 0};
        counts[slab][p] = 1;
        MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_C_DOUBLE_COMPLEX,
                                 &types[slab][p]);
        MPI_Type_commit(&types[slab][p]);
        counts[pencil][p] = mine;
        displs[pencil][p] = p * mine * (int)sizeof(element);
        types[pencil][p] = one_x;
    }
}

static void exchange(int from, const element *sent, int to, element *received) {
    MPI_Alltoallw(sent, counts[from], displs[from], types[from], received, counts[to], displs[to],
                  types[to], MPI_COMM_WORLD);
}

// Of n elements, each `stride` after the other; `sign` is -1, and 1 on the way back.
static void transform(element *line, size_t stride, int sign) {
    static element *a;
    if (!a) a = allocate(n, sizeof *a);
    for (int i = 0, j = 0; i < n; ++i) { // j has the bits of i in reverse
        a[j] = line[i * stride];
        for (int bit = n / 2; bit > 0 && ((j ^= bit) & bit) == 0; bit /= 2) {
        }
    }
    for (int half = 1; half < n; half *= 2)
        for (int k = 0; k < half; ++k) {
            const element w = cexp(sign * I * pi * k / half);
            for (int i = k; i < n; i += 2 * half) {
                const element u = a[i], v = w * a[i + half];
                a[i] = u + v;
                a[i + half] = u - v;
            }
        }
    for (int i = 0; i < n; ++i) line[i * stride] = a[i];
}

static void transform_slab(element *a, int sign) {
    for (int x = 0; x < mine; ++x) {
        element *const plane = a + (size_t)x * n * n;
        for (int y = 0; y < n; ++y) transform(plane + (size_t)y * n, 1, sign);
        for (int z = 0; z < n; ++z) transform(plane + z, n, sign);
    }
}
static void transform_pencil(element *a, int sign) {
    for (int i = 0; i < mine * n; ++i) transform(a + (size_t)i * n, 1, sign);
}

// A plane wave: its spectrum is one number.
static const int peak[3] = {3, 5, 6};
static element wave(int x, int y, int z) {
    return cexp(2 * I * pi * (peak[0] * x + peak[1] * y + peak[2] * z) / n);
}

static void report(const char *what, const element *a, int is_spectrum) {
    const double all = (double)n * n * n;
    double largest = 0;
    uint64_t sum = (uint64_t)rank + 1, total = 0;
    for (int i = 0; i < mine; ++i)
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < n; ++k) {
                const element value = a[((size_t)i * n + j) * n + k];
                const int here = rank * mine + i; // x of a slab, y of a pencil
                element expected = wave(here, j, k) * all;
                if (is_spectrum)
                    expected =
                        here == peak[1] % n && j == peak[2] % n && k == peak[0] % n ? all : 0;
                largest = fmax(largest, cabs(value - expected) / all);
                uint64_t bits[2];
                memcpy(bits, &value, sizeof bits);
                for (int part = 0; part < 2; ++part) sum = (sum ^ bits[part]) * 0x9e3779b97f4a7c15u;
            }
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const int right = largest < 100 * DBL_EPSILON;
    if (rank == 0)
        printf("%s: checksum %016llx, largest error %g: %s\n", what, (unsigned long long)total,
               largest, right ? "right" : "WRONG");
    if (!right) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) n = atoi(argv[1]);
    if (argc > 2) rounds = atoi(argv[2]);
    if (n < 8 || n > 1024 || (n & (n - 1)) != 0 || n % processes != 0 || rounds < 1) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: transpose [EDGE [ROUNDS]]; EDGE is a power of 2 from 8 to 1024, "
                    "and a multiple of the number of processes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    mine = n / processes;
    make_types();
    const size_t elements = (size_t)mine * n * n;
    element *const a = allocate(elements, sizeof *a), *const b = allocate(elements, sizeof *b);
    for (int x = 0; x < mine; ++x)
        for (int y = 0; y < n; ++y)
            for (int z = 0; z < n; ++z)
                a[((size_t)x * n + y) * n + z] = wave(rank * mine + x, y, z);

    transform_slab(a, -1);
    exchange(slab, a, pencil, b);
    transform_pencil(b, -1);
    report("spectrum", b, 1);
    transform_pencil(b, 1);
    memset(a, 0, elements * sizeof *a);
    exchange(pencil, b, slab, a);
    transform_slab(a, 1);
    report("and back", a, 0);

    double time = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
        exchange(slab, a, pencil, b);
        exchange(pencil, b, slab, a);
    }
    time = (MPI_Wtime() - time) / rounds;
    report("again", a, 0);
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("time: %.3f ms from slabs to pencils and back\n", time * 1e3);

    for (int p = 0; p < processes; ++p) MPI_Type_free(&types[slab][p]);
    MPI_Type_free(&types[pencil][0]); // they are all the same
    for (int side = 0; side < 2; ++side) {
        free(counts[side]);
        free(displs[side]);
        free(types[side]);
    }
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
