// Starting, completing and freeing requests.
#pragma once

#include "preload/operation.h"

// Headers before MPI 4 have no sessions, but newer libraries of the same ABI do.
#ifndef MPI_SESSION_NULL
#ifdef OPEN_MPI
using MPI_Session = struct ompi_instance_t *;
#else
using MPI_Session = int;
#endif
#endif

namespace ucd_mpi {

int commit(int (*next)(MPI_Datatype *), MPI_Datatype *datatype);
int type_free(int (*next)(MPI_Datatype *), MPI_Datatype *datatype);
int type_dup(int (*next)(MPI_Datatype, MPI_Datatype *), MPI_Datatype datatype,
             MPI_Datatype *duplicate);
int start(int (*next)(MPI_Request *), MPI_Request *request);
int start_all(int (*next)(int, MPI_Request *), int count, MPI_Request *requests);
int wait(int (*next)(MPI_Request *, MPI_Status *), MPI_Request *request, MPI_Status *status);
int test(int (*next)(MPI_Request *, int *, MPI_Status *), MPI_Request *request, int *flag,
         MPI_Status *status);
int wait_all(int (*next)(int, MPI_Request *, MPI_Status *), int count, MPI_Request *requests,
             MPI_Status *statuses);
int test_all(int (*next)(int, MPI_Request *, int *, MPI_Status *), int count, MPI_Request *requests,
             int *flag, MPI_Status *statuses);
int wait_any(int (*next)(int, MPI_Request *, int *, MPI_Status *), int count, MPI_Request *requests,
             int *index, MPI_Status *status);
int test_any(int (*next)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
             MPI_Request *requests, int *index, int *flag, MPI_Status *status);
// MPI_Waitsome and MPI_Testsome.
int complete_some(int (*next)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
                  MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses);
int request_free(int (*next)(MPI_Request *), MPI_Request *request);
int request_get_status(int (*next)(MPI_Request, int *, MPI_Status *), MPI_Request request,
                       int *flag, MPI_Status *status);
int request_get_status_all(int (*next)(int, const MPI_Request *, int *, MPI_Status *), int count,
                           const MPI_Request *requests, int *flag, MPI_Status *statuses);
int request_get_status_any(int (*next)(int, const MPI_Request *, int *, int *, MPI_Status *),
                           int count, const MPI_Request *requests, int *index, int *flag,
                           MPI_Status *status);
int request_get_status_some(int (*next)(int, const MPI_Request *, int *, int *, MPI_Status *),
                            int count, const MPI_Request *requests, int *completed, int *indices,
                            MPI_Status *statuses);
int finalize(int (*next)());
int session_init(int (*next)(MPI_Info, MPI_Errhandler, MPI_Session *), MPI_Info info,
                 MPI_Errhandler errhandler, MPI_Session *session);
int session_finalize(int (*next)(MPI_Session *), MPI_Session *session);

} // namespace ucd_mpi
