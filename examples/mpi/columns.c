// The products of all pairs of columns of a matrix. One process has the matrix and scatters its
// columns; blocks of columns go round a ring, and each process multiplies its own columns with
// those that it has. The matrices are stored row by row, so a column is a vector type, resized so
// that the next column begins one element later.
//
//     mpirun -n 4 columns [EDGE [ROUNDS]]     EDGE: a power of 2, and a multiple of the processes
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { panel = 16 };

static int n = 256, rounds = 10, processes, rank, mine;

static double *new_matrix(int rows, int columns) {
    double *const a = calloc((size_t)rows * columns, sizeof(double));
    if (!a) MPI_Abort(MPI_COMM_WORLD, 1);
    return a;
}

static MPI_Datatype column_type(int rows, int columns) {
    MPI_Datatype column, resized;
    MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&column);
    return resized;
}

// A matrix of Hadamard, each column times its number: the product of two different columns is 0.
static double element(int i, int j) {
    int ones = 0;
    for (int both = i & j; both != 0; both &= both - 1) ++ones;
    return ones % 2 == 0 ? j + 1 : -(j + 1);
}
static double product(int i, int j) {
    return i == j ? (double)n * (i + 1) * (i + 1) : 0;
}

// c[first + i][j] = column i of a times column j of b.
static void multiply(const double *a, int a_columns, const double *b, int b_columns, double *c,
                     int first) {
    for (int i = 0; i < a_columns; ++i)
        for (int j = 0; j < b_columns; ++j) c[(size_t)(first + i) * b_columns + j] = 0;
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < a_columns; ++i)
            for (int j = 0; j < b_columns; ++j)
                c[(size_t)(first + i) * b_columns + j] +=
                    a[(size_t)k * a_columns + i] * b[(size_t)k * b_columns + j];
}

static int report(const char *what, const double *a, int rows, int columns, int first_column) {
    uint64_t sum = (uint64_t)rank + 1, total = 0;
    int wrong = 0;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            const double value = a[(size_t)i * columns + j];
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            sum = (sum ^ bits) * 0x9e3779b97f4a7c15u;
            wrong += value != product(i, first_column + j);
        }
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: checksum %016llx, %d wrong elements: %s\n", what, (unsigned long long)total,
               wrong, wrong == 0 ? "right" : "WRONG");
    return wrong == 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) n = atoi(argv[1]);
    if (argc > 2) rounds = atoi(argv[2]);
    if (n < panel || n > 8192 || (n & (n - 1)) != 0 || n % processes != 0 || rounds < 1) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: columns [EDGE [ROUNDS]]; EDGE is a power of 2 from 16 to 8192, and "
                    "a multiple of the number of processes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    mine = n / processes;
    const MPI_Datatype of_all = column_type(n, n), of_mine = column_type(n, mine);
    double *const whole = new_matrix(n, n);    // the matrix, then the result; of process 0
    double *const heads = new_matrix(n, n);    // the first columns, in place; nothing else
    double *const own = new_matrix(n, mine);   // this process's columns
    double *const guest = new_matrix(n, mine); // those that go round
    double *const c = new_matrix(n, mine);     // its columns of the result
    double *const c_heads = new_matrix(panel, mine);
    double time = 0;
    int right = 1;
    for (int i = 0; i < n && rank == 0; ++i)
        for (int j = 0; j < n; ++j)
            heads[(size_t)i * n + j] = whole[(size_t)i * n + j] = element(i, j);

    for (int round = 0; round < rounds; ++round) {
        double begin = MPI_Wtime();
        MPI_Scatter(whole, mine, of_all, own, mine, of_mine, 0, MPI_COMM_WORLD);
        MPI_Bcast(heads, panel, of_all, 0, MPI_COMM_WORLD);
        time += MPI_Wtime() - begin;

        memcpy(guest, own, (size_t)n * mine * sizeof(double));
        for (int step = 0; step < processes; ++step) {
            const int owner = (rank + step) % processes;
            if (round == 0) multiply(guest, mine, own, mine, c, owner * mine);
            begin = MPI_Wtime();
            double *const next = new_matrix(n, mine);
            MPI_Sendrecv(guest, mine, of_mine, (rank + processes - 1) % processes, 1, next, mine,
                         of_mine, (rank + 1) % processes, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            memcpy(guest, next, (size_t)n * mine * sizeof(double));
            free(next);
            time += MPI_Wtime() - begin;
        }
    }
    double begin = MPI_Wtime();
    MPI_Gather(c, mine, of_mine, whole, mine, of_all, 0, MPI_COMM_WORLD);
    time += MPI_Wtime() - begin;
    right &= memcmp(guest, own, (size_t)n * mine * sizeof(double)) == 0;
    right &= report("own columns", c, n, mine, rank * mine);
    right &= report("gathered", whole, rank == 0 ? n : 0, n, 0);

    double *const first = new_matrix(n, panel); // the columns that were broadcast, close together
    for (int i = 0; i < n; ++i)
        memcpy(first + (size_t)i * panel, heads + (size_t)i * n, panel * sizeof(double));
    multiply(first, panel, own, mine, c_heads, 0);
    right &= report("with the first columns", c_heads, panel, mine, rank * mine);

    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("time: %.3f ms for scatter, broadcast and ring\n", time / rounds * 1e3);
    MPI_Datatype types[2] = {of_all, of_mine};
    for (int i = 0; i < 2; ++i) MPI_Type_free(&types[i]);
    free(whole);
    free(heads);
    free(own);
    free(guest);
    free(c);
    free(c_heads);
    free(first);
    if (!right) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
