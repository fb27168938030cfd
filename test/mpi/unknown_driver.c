/* Stands for a GPU driver, by its soname, that libucd has no backend for, beside an MPI library that
 * reads device memory. */
int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void) {
    return 1;
}
