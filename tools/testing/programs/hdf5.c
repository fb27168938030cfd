#include <hdf5.h>
#include <stdio.h>
enum { n = 512, halo = 2 };
static double field[n][n + 2 * halo];
int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) field[i][j + halo] = i + 1000. * (j + rank * n);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    hid_t file = H5Fcreate("field.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t all[2] = {n, (hsize_t)n * size}, mine[2] = {n, n}, start[2] = {0, (hsize_t)n * rank};
    hsize_t memory[2] = {n, n + 2 * halo}, inner[2] = {0, halo};
    hid_t in_file = H5Screate_simple(2, all, NULL), in_memory = H5Screate_simple(2, memory, NULL);
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, mine, NULL);
    H5Sselect_hyperslab(in_memory, H5S_SELECT_SET, inner, NULL, mine, NULL);
    hid_t set = H5Dcreate(file, "field", H5T_NATIVE_DOUBLE, in_file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, field);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) field[i][j + halo] = -1;
    H5Dread(set, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, field);
    double sum = 0, total = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) sum += (i + 1) * field[i][j + halo];
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%.17g\n", total);
    H5Dclose(set);
    H5Fclose(file);
    MPI_Finalize();
    return 0;
}
