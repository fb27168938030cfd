/* A program that has MPI send a column and moves data with its own copy of libucd, by turns. It
 * runs with libucd-mpi-preload, which has another copy or the same. */
#include "caller.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { rows = 4000, columns = 3 };

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "with_mpi: %s\n", what);
    exit(1);
}

static void send_column(MPI_Datatype column, int round) {
    static int matrix[rows][columns], received[rows];
    for (int i = 0; i < rows; ++i) matrix[i][0] = i + round;
    require(MPI_Sendrecv(matrix, 1, column, 0, 7, received, rows, MPI_INT, 0, 7, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE) == MPI_SUCCESS,
            "MPI_Sendrecv");
    for (int i = 0; i < rows; ++i) require(received[i] == i + round, "what was received");
}

int main(int count, char **arguments) {
    const caller_t *program = program_caller(), *library = library_caller();
    require(MPI_Init(&count, &arguments) == MPI_SUCCESS, "MPI_Init");
    MPI_Datatype column;
    MPI_Type_vector(rows, 1, columns, MPI_INT, &column);
    MPI_Type_commit(&column);
    program->start();
    library->start();
    for (int round = 0; round < 5; ++round) {
        send_column(column, round);
        program->use();
        library->use();
    }
    program->end();
    send_column(column, 10);
    library->use();
    library->end();
    send_column(column, 11);
    MPI_Type_free(&column);
    MPI_Finalize();
    puts("done");
    return 0;
}
