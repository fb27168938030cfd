/* Stands for a GPU driver, by its soname, that libucd has no backend for, beside an MPI library
 * that reads device memory. */
int QUESTION(void);
int QUESTION(void) {
    return 1;
}
