/* Requests that C starts and Fortran completes, and the other way round. */
#include <mpi.h>

MPI_Fint receive_started_in_c(void *buffer, MPI_Fint datatype, MPI_Fint tag) {
    MPI_Request request;
    MPI_Irecv(buffer, 1, MPI_Type_f2c(datatype), 0, tag, MPI_COMM_WORLD, &request);
    return MPI_Request_c2f(request);
}

void completed_in_c(MPI_Fint request) {
    MPI_Request c_request = MPI_Request_f2c(request);
    MPI_Wait(&c_request, MPI_STATUS_IGNORE);
}
