/*
 * ucd_mpi.h - UCD types from MPI datatypes (libucd-mpi-mpich, libucd-mpi-openmpi, libucd-mpi-abi).
 *
 * There is one library for each MPI library that was found when UCD was built, since handles and
 * constants differ; libucd-mpi-abi is for all that have the ABI of MPI 5. Compile with that MPI's
 * mpi.h, and link the library of the same name. The conventions of ucd.h hold, except that the
 * message of a failure is in ucd_mpi_last_error.
 *
 * The guide is share/doc/ucd/guide/mpi.md. It also explains libucd-mpi-preload-*, which lets
 * programs that were not changed use UCD, and which reads these environment variables when the
 * process starts: UCD_MPI says what it takes over (off, pack or all; default all). UCD_MPI_ALWAYS=1
 * takes over whatever it can, whether it gains or not, for tests and measurements. UCD_MPI_STATS=1
 * prints at MPI_Finalize what was taken over. UCD_MPI_GPU_AWARE=1 or 0 says whether the MPI library
 * can read and write device memory itself; if unset, the MPI library is asked. UCD_MPI_GPU_WAY says
 * how data with gaps there is packed (device, host or mpi; if unset, a table decides).
 */
#ifndef UCD_MPI_H_INCLUDED
#define UCD_MPI_H_INCLUDED

#include <mpi.h>
#include <ucd.h>

/* As UCD_API in ucd.h. */
#ifdef UCD_MPI_HIDDEN
#define UCD_MPI_API __attribute__((visibility("hidden")))
#else
#define UCD_MPI_API UCD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates a UCD type with the type map and the bounds of an MPI datatype. The caller frees it with
 * ucd_free, also if datatype is predefined. Type and datatype are independent: either may be freed
 * first.
 *
 * Datatypes    Every constructor of MPI-4.0, with int or MPI_Count arguments, built in C or
 *              Fortran; all predefined types of C, C++ and Fortran; the types of
 *              MPI_Type_create_f90_*. datatype need not be committed.
 * Bounds       Lower bound and extent of every type inside are those that the MPI library reports.
 *              MPI libraries round extents differently; the UCD type describes what MPI_Send of
 *              the same library would send.
 * Elements     A predefined type becomes the UCD type of the same representation: MPI_INTEGER
 *              becomes UCD_TYPE__INT32_T. A representation that UCD does not have, such as
 *              binary128 for a 16-byte REAL, becomes UCD_TYPE__BYTE, as many as it has bytes.
 * Cost         The first call for a derived datatype reads how it was built. The result stays on
 *              the datatype, as an attribute, until that is freed, so later calls cost a look-up.
 *              Duplicates by MPI_Type_dup share it.
 * Threads      The thread level of MPI holds: several threads may call this function at the same
 *              time only with MPI_THREAD_MULTIPLE. MPI must be initialised and not finalised. After
 *              a program has ended its last MPI session, it must not call this function in a later
 *              one.
 * info         Holds hints; in this version no key affects the call. May be UCD_INFO__NULL.
 *
 * Returns: NOT_INITIALIZED (ucd_init has not succeeded); INVALID_ARG (type is NULL; datatype is
 * MPI_DATATYPE_NULL); NOT_SUPPORTED (a constructor or predefined type that UCD does not know; MPI's
 * size contradicts the type map); OVERFLOW; OUT_OF_MEM; INTERNAL (a call of MPI failed and its
 * error handler returned).
 */
UCD_MPI_API int ucd_type_from_mpi(MPI_Datatype datatype, ucd_info_t info, ucd_type_t *type);

/* The calling thread's last failure in libucd-mpi as a sentence that names function, argument and
 * rule. "" if nothing has failed in this thread; a success does not clear it. Never NULL. The
 * string belongs to libucd-mpi and is valid until the next failure in this thread. Valid at any
 * time. */
UCD_MPI_API const char *ucd_mpi_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* UCD_MPI_H_INCLUDED */
