#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
enum { halo = 2 };
static void check(int rc) {
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s\n", ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 1);
}
int main(int argc, char **argv) {
    int rank, size, rows = atoi(argv[1]), columns = atoi(argv[2]), rounds = atoi(argv[3]), file, dims[2], variable;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int all[2] = {rows + 2 * halo, columns + 2 * halo}, mine[2] = {rows, columns}, first[2] = {halo, halo};
    double *field = calloc((size_t)all[0] * all[1], sizeof *field), sum = 0, total = 0;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) field[(i + halo) * all[1] + j + halo] = i + 1000. * (j + 7 * rank);
    MPI_Datatype inner;
    MPI_Type_create_subarray(2, all, mine, first, MPI_ORDER_C, MPI_DOUBLE, &inner);
    MPI_Type_commit(&inner);
    check(ncmpi_create(MPI_COMM_WORLD, "field.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    check(ncmpi_def_dim(file, "y", (MPI_Offset)rows * size, &dims[0]));
    check(ncmpi_def_dim(file, "x", columns, &dims[1]));
    check(ncmpi_def_var(file, "field", NC_DOUBLE, 2, dims, &variable));
    check(ncmpi_enddef(file));
    MPI_Offset start[2] = {(MPI_Offset)rows * rank, 0}, count[2] = {rows, columns};
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
        check(ncmpi_put_vara_all(file, variable, start, count, field, 1, inner));
        check(ncmpi_get_vara_all(file, variable, start, count, field, 1, inner));
    }
    double seconds = MPI_Wtime() - begin;
    check(ncmpi_close(file));
    for (int i = 0; i < all[0] * all[1]; ++i) sum += (i + 1) * field[i];
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%.17g\n", total);
        fprintf(stderr, "seconds: %g\n", seconds);
    }
    MPI_Type_free(&inner);
    MPI_Finalize();
    return 0;
}
