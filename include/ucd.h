/*
 * ucd.h - UCD: noncontiguous data described by types, and moved.
 *
 * A type describes where bytes lie in memory and in which order they are packed (the MPI datatype
 * model). UCD packs, unpacks, copies and reduces data so described, lists it as I/O vectors, and
 * carries types between processes as bytes. Where a rule is not written here, chapter 5 of MPI-4.1
 * decides; "MPI 5.1.2" below names a section of that standard.
 *
 * ================================================================================================
 * Conventions. They hold for every function; a function's comment tells only what it adds.
 * ================================================================================================
 *
 * Statuses    A function returns UCD_SUCCESS or a positive UCD_ERR__* code, unless it says that it
 *             returns something else. No C++ exception and no abort crosses this interface.
 *             "Returns:" lists the failures. These mean the same everywhere:
 *               NOT_INITIALIZED  ucd_init has not succeeded, or the last ucd_finalize has been
 *                                made. Checked first. Never from ucd_strerror, ucd_last_error,
 *                                ucd_version and ucd_info_*. ucd_free, ucd_test and ucd_wait stay
 *                                valid after the last ucd_finalize.
 *               INVALID_ARG      an argument breaks a rule: NULL where the null rules forbid it; a
 *                                handle that is NULL or a small integer that names no predefined
 *                                type; a negative count or block length; a value that is no such
 *                                op, order or distribution.
 *               OUT_OF_MEM       host or device memory could not be had.
 *               OVERFLOW         a size, a bound or an address offset does not fit (see Units).
 *               INTERNAL         a defect of UCD, reported instead of an abort.
 * Failure     A call that fails to start something changes nothing: no output is written, nothing
 *             leaks, every earlier handle stays valid. When the failure came after data began to
 *             move (blocking calls, ucd_test, ucd_wait, ucd_waitall) the content of the destination
 *             range is unspecified, and the request, if there is one, is over.
 * Units       Counts, block lengths, displacements and strides are intptr_t, in elements (extents
 *             of oldtype) or in bytes where the name has an h. Sizes and buffer positions are
 *             uintptr_t bytes. Size, bounds and true bounds of a type fit INTPTR_MAX, or creating
 *             it is OVERFLOW; so is a call whose count times the type does not fit. There is no
 *             32-bit limit.
 * Null rules  A noncontiguous buffer may be NULL: displacements may be absolute addresses (MPI
 *             5.1.12, MPI_BOTTOM). A packed buffer may be NULL only if 0 bytes move. An input array
 *             may be NULL only if it has 0 entries. A ucd_info_t may be UCD_INFO__NULL. An output
 *             argument is never NULL.
 * Ownership   A ucd_type_t that a function creates is the caller's, who ends it with ucd_free; a
 *             request ends in ucd_test, ucd_wait or ucd_waitall; an info in ucd_info_free. Types
 *             are immutable and reference counted: one may be freed while requests and derived
 *             types still use it. Arrays, strings and infos are copied or read during the call, and
 *             the caller may change or free them once it returned. Handles that UCD never gave out,
 *             or that were ended, are undefined behaviour.
 * Threads     Every function may be called by any thread at any time, but: one request handle, an
 *             info that is being modified and a native stream belong to one thread at a time; no
 *             handle is ended while another thread is in a call that uses it; the last ucd_finalize
 *             runs alone. Infos that nobody modifies may be shared.
 * Blocking    A function works in the calling thread and is complete when it returns, unless it
 *             says otherwise. Only functions that move data touch user buffers.
 * struct_size The caller sets it to the sizeof that it was compiled with (at least 4, else
 *             INVALID_ARG). UCD writes no byte beyond it, and not the field itself; what this
 *             version does not know is left as it was, so zero the struct first.
 */
#ifndef UCD_H_INCLUDED
#define UCD_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#if defined(__GNUC__) || defined(__clang__)
#define UCD_API __attribute__((visibility("default")))
#else
#define UCD_API
#endif

#define UCD_VERSION_MAJOR 0
#define UCD_VERSION_MINOR 1
#define UCD_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- */
/* Statuses                                                                                       */
/* ---------------------------------------------------------------------------------------------- */

enum {
    UCD_SUCCESS = 0,
    UCD_ERR__INVALID_ARG,
    UCD_ERR__OUT_OF_MEM,
    UCD_ERR__NOT_SUPPORTED, /* legal, but this library, backend or machine cannot do it */
    UCD_ERR__NOT_INITIALIZED,
    UCD_ERR__OVERFLOW,
    UCD_ERR__CORRUPT,   /* flattened bytes that no ucd_flatten wrote */
    UCD_ERR__TRUNCATED, /* the room given is too small */
    UCD_ERR__DEVICE,    /* a GPU driver or runtime call failed */
    UCD_ERR__INTERNAL
};

/* The name of a status ("UCD_ERR__OVERFLOW"), or a fixed text for a number that is none. The string
 * is static and never NULL. Valid at any time. */
UCD_API const char *ucd_strerror(int rc);

/* The calling thread's last failure as a sentence that names function, argument, value and rule:
 * "ucd_create_vector: blocklength is -3; it must be >= 0". "" if nothing has failed in this thread;
 * a success does not clear it. Never NULL; the string is UCD's and holds until the next UCD call of
 * this thread that fails. Valid at any time. */
UCD_API const char *ucd_last_error(void);

/* ---------------------------------------------------------------------------------------------- */
/* Handles                                                                                        */
/* ---------------------------------------------------------------------------------------------- */

typedef struct ucd_type *ucd_type_t;
typedef struct ucd_request *ucd_request_t;
typedef struct ucd_info *ucd_info_t;

#define UCD_REQUEST__NULL ((ucd_request_t)(uintptr_t)0) /* a request that is complete */
#define UCD_INFO__NULL ((ucd_info_t)(uintptr_t)0)       /* no hints */

/*
 * Predefined types: compile-time constants that work in static initialisers, before ucd_init. The
 * values are part of the ABI. They are never freed. Names and meaning: MPI 3.2.2, 6.9.2, 6.9.4.
 *
 * A pair type has the extent and alignment of its C struct, and is packed without the padding
 * between and after the members: DOUBLE_INT has size 12 and extent 16. FLOAT16 is IEEE 754
 * binary16, BFLOAT16 the upper half of a binary32; both are 2 bytes, aligned to 2.
 */
/* clang-format off */
#define UCD_TYPE__NULL                  ((ucd_type_t)(uintptr_t)0)  /* no type: not an empty one */
/*                                                            value    C type */
#define UCD_TYPE___BOOL                 ((ucd_type_t)(uintptr_t)1)  /* _Bool */
#define UCD_TYPE__CHAR                  ((ucd_type_t)(uintptr_t)2)  /* char (text) */
#define UCD_TYPE__SIGNED_CHAR           ((ucd_type_t)(uintptr_t)3)  /* signed char */
#define UCD_TYPE__UNSIGNED_CHAR         ((ucd_type_t)(uintptr_t)4)  /* unsigned char */
#define UCD_TYPE__WCHAR_T               ((ucd_type_t)(uintptr_t)5)  /* wchar_t */
#define UCD_TYPE__BYTE                  ((ucd_type_t)(uintptr_t)6)  /* one byte without meaning */
#define UCD_TYPE__SHORT                 ((ucd_type_t)(uintptr_t)7)  /* short */
#define UCD_TYPE__UNSIGNED_SHORT        ((ucd_type_t)(uintptr_t)8)  /* unsigned short */
#define UCD_TYPE__INT                   ((ucd_type_t)(uintptr_t)9)  /* int */
#define UCD_TYPE__UNSIGNED              ((ucd_type_t)(uintptr_t)10) /* unsigned */
#define UCD_TYPE__LONG                  ((ucd_type_t)(uintptr_t)11) /* long */
#define UCD_TYPE__UNSIGNED_LONG         ((ucd_type_t)(uintptr_t)12) /* unsigned long */
#define UCD_TYPE__LONG_LONG             ((ucd_type_t)(uintptr_t)13) /* long long */
#define UCD_TYPE__UNSIGNED_LONG_LONG    ((ucd_type_t)(uintptr_t)14) /* unsigned long long */
#define UCD_TYPE__INT8_T                ((ucd_type_t)(uintptr_t)15) /* int8_t */
#define UCD_TYPE__INT16_T               ((ucd_type_t)(uintptr_t)16) /* int16_t */
#define UCD_TYPE__INT32_T               ((ucd_type_t)(uintptr_t)17) /* int32_t */
#define UCD_TYPE__INT64_T               ((ucd_type_t)(uintptr_t)18) /* int64_t */
#define UCD_TYPE__UINT8_T               ((ucd_type_t)(uintptr_t)19) /* uint8_t */
#define UCD_TYPE__UINT16_T              ((ucd_type_t)(uintptr_t)20) /* uint16_t */
#define UCD_TYPE__UINT32_T              ((ucd_type_t)(uintptr_t)21) /* uint32_t */
#define UCD_TYPE__UINT64_T              ((ucd_type_t)(uintptr_t)22) /* uint64_t */
#define UCD_TYPE__INT_FAST8_T           ((ucd_type_t)(uintptr_t)23) /* int_fast8_t */
#define UCD_TYPE__INT_FAST16_T          ((ucd_type_t)(uintptr_t)24) /* int_fast16_t */
#define UCD_TYPE__INT_FAST32_T          ((ucd_type_t)(uintptr_t)25) /* int_fast32_t */
#define UCD_TYPE__INT_FAST64_T          ((ucd_type_t)(uintptr_t)26) /* int_fast64_t */
#define UCD_TYPE__UINT_FAST8_T          ((ucd_type_t)(uintptr_t)27) /* uint_fast8_t */
#define UCD_TYPE__UINT_FAST16_T         ((ucd_type_t)(uintptr_t)28) /* uint_fast16_t */
#define UCD_TYPE__UINT_FAST32_T         ((ucd_type_t)(uintptr_t)29) /* uint_fast32_t */
#define UCD_TYPE__UINT_FAST64_T         ((ucd_type_t)(uintptr_t)30) /* uint_fast64_t */
#define UCD_TYPE__INT_LEAST8_T          ((ucd_type_t)(uintptr_t)31) /* int_least8_t */
#define UCD_TYPE__INT_LEAST16_T         ((ucd_type_t)(uintptr_t)32) /* int_least16_t */
#define UCD_TYPE__INT_LEAST32_T         ((ucd_type_t)(uintptr_t)33) /* int_least32_t */
#define UCD_TYPE__INT_LEAST64_T         ((ucd_type_t)(uintptr_t)34) /* int_least64_t */
#define UCD_TYPE__UINT_LEAST8_T         ((ucd_type_t)(uintptr_t)35) /* uint_least8_t */
#define UCD_TYPE__UINT_LEAST16_T        ((ucd_type_t)(uintptr_t)36) /* uint_least16_t */
#define UCD_TYPE__UINT_LEAST32_T        ((ucd_type_t)(uintptr_t)37) /* uint_least32_t */
#define UCD_TYPE__UINT_LEAST64_T        ((ucd_type_t)(uintptr_t)38) /* uint_least64_t */
#define UCD_TYPE__INTMAX_T              ((ucd_type_t)(uintptr_t)39) /* intmax_t */
#define UCD_TYPE__UINTMAX_T             ((ucd_type_t)(uintptr_t)40) /* uintmax_t */
#define UCD_TYPE__SIZE_T                ((ucd_type_t)(uintptr_t)41) /* size_t */
#define UCD_TYPE__INTPTR_T              ((ucd_type_t)(uintptr_t)42) /* intptr_t */
#define UCD_TYPE__UINTPTR_T             ((ucd_type_t)(uintptr_t)43) /* uintptr_t */
#define UCD_TYPE__PTRDIFF_T             ((ucd_type_t)(uintptr_t)44) /* ptrdiff_t */
#define UCD_TYPE__FLOAT16               ((ucd_type_t)(uintptr_t)45) /* _Float16 */
#define UCD_TYPE__BFLOAT16              ((ucd_type_t)(uintptr_t)46) /* __bf16 */
#define UCD_TYPE__FLOAT                 ((ucd_type_t)(uintptr_t)47) /* float */
#define UCD_TYPE__DOUBLE                ((ucd_type_t)(uintptr_t)48) /* double */
#define UCD_TYPE__LONG_DOUBLE           ((ucd_type_t)(uintptr_t)49) /* long double */
#define UCD_TYPE__C_COMPLEX             ((ucd_type_t)(uintptr_t)50) /* float _Complex */
#define UCD_TYPE__C_DOUBLE_COMPLEX      ((ucd_type_t)(uintptr_t)51) /* double _Complex */
#define UCD_TYPE__C_LONG_DOUBLE_COMPLEX ((ucd_type_t)(uintptr_t)52) /* long double _Complex */
#define UCD_TYPE__FLOAT_INT             ((ucd_type_t)(uintptr_t)53) /* struct {float; int;} */
#define UCD_TYPE__DOUBLE_INT            ((ucd_type_t)(uintptr_t)54) /* struct {double; int;} */
#define UCD_TYPE__LONG_INT              ((ucd_type_t)(uintptr_t)55) /* struct {long; int;} */
#define UCD_TYPE__2INT                  ((ucd_type_t)(uintptr_t)56) /* struct {int; int;} */
#define UCD_TYPE__SHORT_INT             ((ucd_type_t)(uintptr_t)57) /* struct {short; int;} */
#define UCD_TYPE__LONG_DOUBLE_INT       ((ucd_type_t)(uintptr_t)58) /* struct {long double; int;} */
#define UCD_TYPE__2FLOAT                ((ucd_type_t)(uintptr_t)59) /* struct {float; float;} */
#define UCD_TYPE__2DOUBLE               ((ucd_type_t)(uintptr_t)60) /* struct {double; double;} */
/* clang-format on */

/*
 * Operations (MPI 6.9.2, 6.9.4). The result is out = out op in, element by element; the values are
 * part of the ABI. What a type takes (anything else is NOT_SUPPORTED):
 *
 *   every type                          REPLACE
 *   integers, SIGNED_CHAR and           MAX MIN SUM PROD LAND LOR LXOR BAND BOR BXOR; SUM and PROD
 *     UNSIGNED_CHAR included              wrap modulo 2^N, signed ones too
 *   _BOOL                               LAND LOR LXOR
 *   BYTE                                BAND BOR BXOR
 *   FLOAT16 BFLOAT16 FLOAT DOUBLE       MAX MIN SUM PROD; the 16-bit types are computed in
 *     LONG_DOUBLE                         float and rounded to nearest, ties to even
 *   C_COMPLEX and its wider kin         SUM PROD (the plain formula)
 *   pair types                          MAXLOC MINLOC; of equal values the lowest index wins
 *   CHAR WCHAR_T                        nothing else
 *   a derived type                      what each predefined type in it takes
 *
 * On devices, types with long double take REPLACE only.
 */
typedef int ucd_op_t;
enum {
    UCD_OP__REPLACE = 0,
    UCD_OP__MAX,
    UCD_OP__MIN,
    UCD_OP__SUM,
    UCD_OP__PROD,
    UCD_OP__LAND,
    UCD_OP__LOR,
    UCD_OP__LXOR,
    UCD_OP__BAND,
    UCD_OP__BOR,
    UCD_OP__BXOR,
    UCD_OP__MAXLOC,
    UCD_OP__MINLOC
};

/* Array storage order: the last (C) or the first (FORTRAN) index is adjacent in memory. */
enum { UCD_ORDER__C = 0, UCD_ORDER__FORTRAN = 1 };

/* How ucd_create_darray distributes one dimension, and its default distribution argument. */
enum { UCD_DISTRIBUTE__BLOCK = 0, UCD_DISTRIBUTE__CYCLIC = 1, UCD_DISTRIBUTE__NONE = 2 };
#define UCD_DISTRIBUTE__DFLT_DARG (-1)

/* ---------------------------------------------------------------------------------------------- */
/* Life cycle                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

/* Starts the library, and finds the backends. Calls are counted: each library in a process may make
 * its own, and each success is matched by one ucd_finalize. Only the first reads the environment
 * and the info's ucd.backends. Initialises no GPU driver. A backend that is missing is no
 * failure: ucd_backend_get tells why.
 * Environment: UCD_<KEY> gives the default of key ucd.<key> (UCD_BACKENDS, UCD_GPU, UCD_INBUF,
 * UCD_OUTBUF, UCD_ENGINE, UCD_MAX_BLOCKS, UCD_THREADS, UCD_ZE_CONTEXT); the info of a call wins.
 * UCD_LOG_LEVEL: what UCD prints to stderr: off (as when unset), error (every failure) or plan (also
 * which kernel was chosen for each layout, and why). UCD_PLUGIN_PATH: folders, with colons between
 * them, where backend plugins are looked for; in place of the one that libucd is in. A program
 * that runs with more rights than who started it (set-user-id and the like) reads none of these.
 * Returns: INVALID_ARG (an environment variable has a bad value), OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_init(ucd_info_t info);

/* Takes back one ucd_init. The last one waits for all outstanding work and releases everything; no
 * other thread may be in UCD then. Afterwards ucd_free, and ucd_test and ucd_wait of what is now
 * complete, stay valid, and ucd_init may start again. Types that were not freed do no harm.
 * Returns: NOT_INITIALIZED, INTERNAL. */
UCD_API int ucd_finalize(void);

/* The version of the library that runs; UCD_VERSION_* is the one compiled against. Valid at any
 * time. Returns: INVALID_ARG. */
UCD_API int ucd_version(int *major, int *minor, int *patch);

/* ---------------------------------------------------------------------------------------------- */
/* Hints                                                                                          */
/* ---------------------------------------------------------------------------------------------- */

/*
 * An info is a set of (key, value) strings, usable before ucd_init and after ucd_finalize. Values
 * are checked when set. A hint that is not true of the buffer is undefined behaviour.
 *
 *   ucd.backends    first ucd_init only: comma list of backend names; default: all that are found;
 *                   seq is used in any case
 *   ucd.gpu         none: the call touches host memory only, so no pointer is looked up
 *   ucd.inbuf       host | pinned | managed | cuda:N | hip:N | ze:N : where the input buffer is, so
 *   ucd.outbuf        it is not looked up; the output buffer. N is the device that executes; memory
 *                     mapped from a peer counts as its own
 *   ucd.peers       auto | none ; with none, no device uses the memory of another: data between
 *                     them goes through the host's
 *   ucd.engine      auto | kernel | dma ; dma uses copy engines only, NOT_SUPPORTED for a layout
 *                     that they cannot do
 *   ucd.max_blocks  integer >= 1: the most compute units (thread blocks) that a call may use;
 *                     default: what there is work for, but for a move to or from host memory only
 *                     what its bus needs
 *   ucd.threads     integer >= 1: host threads for one call of the CPU backend; default 1
 *   ucd.ze.context  a ze_context_handle_t as an integer, whose allocations UCD is to recognise
 *
 * Unknown keys are ignored.
 */

/* Makes an empty info; the caller ends it with ucd_info_free. Returns: INVALID_ARG, OUT_OF_MEM,
 * INTERNAL. */
UCD_API int ucd_info_create(ucd_info_t *info);

/* Sets a key, in place of an earlier value. key and value are copied; neither may be NULL. After a
 * failure the earlier value stands. Returns: INVALID_ARG (NULL; a bad value of a known key),
 * OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_info_set(ucd_info_t info, const char *key, const char *value);

/* Copies what key was last set to, also a key that UCD does not know, to value, which has value_size
 * bytes; so libraries on top of UCD can have keys of their own. *needed is set, also when the result
 * is TRUNCATED, to the value_size that suffices, NUL included, or to 0 if key is not set or info is
 * UCD_INFO__NULL. value may be NULL if value_size is 0. MPI 10 (MPI_Info_get_string).
 * Returns: INVALID_ARG (key or needed is NULL; value is NULL though value_size is not 0); TRUNCATED
 * (value_size < *needed; value is not written). */
UCD_API int ucd_info_get(ucd_info_t info, const char *key, char *value, uintptr_t value_size,
                         uintptr_t *needed);

/* Copies the name of set key number n to key, which has key_size bytes; so libraries on top of UCD
 * can find misspelt keys of their own. Keys are in ascending order of their names' bytes, from 0 on.
 * *needed is set, also when the result is TRUNCATED, to the key_size that suffices, NUL included, or
 * to 0 if no more than n keys are set or info is UCD_INFO__NULL. key may be NULL if key_size is 0.
 * MPI 10 (MPI_Info_get_nthkey).
 * Returns: INVALID_ARG (needed is NULL; key is NULL though key_size is not 0); TRUNCATED (key_size <
 * *needed; key is not written). */
UCD_API int ucd_info_get_nthkey(ucd_info_t info, uintptr_t n, char *key, uintptr_t key_size,
                                uintptr_t *needed);

/* Ends *info and sets it to UCD_INFO__NULL; calls that used it and have returned no longer need it,
 * whatever they started. Returns: INVALID_ARG (info or *info is NULL). */
UCD_API int ucd_info_free(ucd_info_t *info);

/* ---------------------------------------------------------------------------------------------- */
/* Backends                                                                                       */
/* ---------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t struct_size; /* see Conventions */
    uint32_t available;   /* 1: usable; 0: not, and reason says why */
    uint32_t devices;     /* devices found; 1 for the CPU */
    char name[16];        /* "seq" (the CPU), "cuda", "hip", "ze" */
    char version[32];     /* of the driver or runtime in use; "" if unknown */
    char reason[256];     /* why it is not available, a sentence; "" if it is */
} ucd_backend_desc_t;

/* The number of backends that this library knows of, found or not; it is constant until the last
 * ucd_finalize. Returns: NOT_INITIALIZED, INVALID_ARG, INTERNAL. */
UCD_API int ucd_backend_count(int *count);

/* Describes backend number index, 0 to count - 1, in *desc, whose struct_size the caller has set.
 * May initialise GPU drivers.
 * Returns: NOT_INITIALIZED, INVALID_ARG (index; desc; struct_size), INTERNAL. */
UCD_API int ucd_backend_get(int index, ucd_backend_desc_t *desc);

/* Sets *supported to 1 if the named backend can move this type, predefined or derived, with this
 * op, else to 0; 0 too for a backend that is not available. May initialise that backend's driver.
 * Returns: NOT_INITIALIZED, INVALID_ARG (no such op or type; backend is NULL or no known name),
 * INTERNAL. */
UCD_API int ucd_op_is_supported(ucd_op_t op, ucd_type_t type, const char *backend, int *supported);

/* ---------------------------------------------------------------------------------------------- */
/* Creating types                                                                                 */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Rules for every constructor.
 *
 * The new type is written to *newtype; there is nothing to commit. The result is a new handle, also
 * of an unchanged or predefined type, and is to be freed. newtype may point to the variable that
 * held oldtype (whose old value then needs another copy to be freed by) or into an input array.
 * Legal are: counts and block lengths of 0, empty types, negative strides, displacements that are
 * negative, overlap or repeat, negative extents, and any depth of nesting. An empty type is a type,
 * never UCD_TYPE__NULL. info holds hints; no key affects a constructor in this version.
 *
 * Bounds (MPI 5.1.6, 5.1.7): resized, subarray and darray set explicit bounds, and where there are
 * any in what a type is built on, only these count; blocks of 0 elements contribute none. Without
 * explicit bounds, a non-empty type's extent is rounded up to the largest alignment (_Alignof) in
 * its type map, whichever constructor made it, and an empty one has lb and extent 0.
 *
 * Returns, every constructor: NOT_INITIALIZED; INVALID_ARG (Conventions, and what the function
 * names); OVERFLOW (size, bounds or true bounds do not fit INTPTR_MAX); OUT_OF_MEM; INTERNAL.
 */

/* count elements, each one extent after the last. MPI 5.1.2. */
UCD_API int ucd_create_contig(intptr_t count, ucd_type_t oldtype, ucd_info_t info,
                              ucd_type_t *newtype);

/* The same type map and bounds under a new handle. MPI 5.1.10. As long as it exists, no other type
 * gets the handle value of oldtype, even if that is freed: who keeps a duplicate may take the
 * original's handle for the key of a cache. */
UCD_API int ucd_create_dup(ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* count blocks of blocklength elements; block starts are stride extents apart. MPI 5.1.2. */
UCD_API int ucd_create_vector(intptr_t count, intptr_t blocklength, intptr_t stride,
                              ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* As ucd_create_vector, but stride is in bytes. MPI 5.1.2. */
UCD_API int ucd_create_hvector(intptr_t count, intptr_t blocklength, intptr_t stride,
                               ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* count blocks of blocklength elements; block i starts at displs[i] extents. MPI 5.1.2. */
UCD_API int ucd_create_indexed_block(intptr_t count, intptr_t blocklength, const intptr_t *displs,
                                     ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* As ucd_create_indexed_block, but displs are in bytes. MPI 5.1.2. */
UCD_API int ucd_create_hindexed_block(intptr_t count, intptr_t blocklength, const intptr_t *displs,
                                      ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* count blocks; block i has blocklengths[i] elements and starts at displs[i] extents. MPI 5.1.2. */
UCD_API int ucd_create_indexed(intptr_t count, const intptr_t *blocklengths, const intptr_t *displs,
                               ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* As ucd_create_indexed, but displs are in bytes. MPI 5.1.2. */
UCD_API int ucd_create_hindexed(intptr_t count, const intptr_t *blocklengths,
                                const intptr_t *displs, ucd_type_t oldtype, ucd_info_t info,
                                ucd_type_t *newtype);

/* count blocks; block i has blocklengths[i] elements of types[i] and starts at byte displs[i]. Each
 * types[i] must be a type, also where the block length is 0. MPI 5.1.2. */
UCD_API int ucd_create_struct(intptr_t count, const intptr_t *blocklengths, const intptr_t *displs,
                              const ucd_type_t *types, ucd_info_t info, ucd_type_t *newtype);

/* The part of subsizes[i] elements from starts[i] on, in each of ndims >= 1 dimensions, of an array
 * of sizes[i] elements. Bounds are those of the whole array, lb 0. The arrays have ndims entries;
 * order is a UCD_ORDER__*. MPI 5.1.3.
 * Sizes of 0, which MPI does not allow, give an empty type with the bounds of the array.
 * INVALID_ARG also: ndims < 1; sizes[i] < 0; subsizes[i] < 0 or > sizes[i]; starts[i] < 0 or
 * > sizes[i] - subsizes[i]. */
UCD_API int ucd_create_subarray(int ndims, const intptr_t *sizes, const intptr_t *subsizes,
                                const intptr_t *starts, int order, ucd_type_t oldtype,
                                ucd_info_t info, ucd_type_t *newtype);

/* The elements of a global array (gsizes, ndims >= 1 dimensions) that belong to process rank of
 * size processes in a row-major grid of psizes. Per dimension: distribs is a UCD_DISTRIBUTE__*,
 * dargs its block size or UCD_DISTRIBUTE__DFLT_DARG. Bounds are those of the global array, lb 0; a
 * process that owns nothing gets an empty type. The arrays have ndims entries; order, of storage,
 * is a UCD_ORDER__*. MPI 5.1.4.
 * INVALID_ARG also: ndims < 1; size < 1; rank outside 0 to size - 1; gsizes[i] < 0; psizes[i] < 1;
 * the product of psizes is not size; NONE with psizes[i] not 1; dargs[i] < 1 and not the default
 * (not looked at for NONE); BLOCK with dargs[i] * psizes[i] < gsizes[i]. */
UCD_API int ucd_create_darray(int size, int rank, int ndims, const intptr_t *gsizes,
                              const int *distribs, const intptr_t *dargs, const int *psizes,
                              int order, ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* An array in the manner of NumPy and DLPack: the element of index (i0, i1, ...), where
 * 0 <= ik < shape[k], is at byte i0 * byte_strides[0] + i1 * byte_strides[1] + ...; the last index
 * varies fastest in packed order. Strides have any sign; a stride of 0 repeats the data, which is
 * meant for packing. ndims 0 is one element; a shape[k] of 0 gives an empty type. Bounds are
 * implicit, as of nested hvectors. No counterpart in MPI.
 * INVALID_ARG also: ndims < 0; shape[k] < 0. */
UCD_API int ucd_create_ndarray(int ndims, const intptr_t *shape, const intptr_t *byte_strides,
                               ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* The same type map with the bounds lb and lb + extent, in bytes, which are explicit from here on.
 * MPI 5.1.7. */
UCD_API int ucd_create_resized(ucd_type_t oldtype, intptr_t lb, intptr_t extent, ucd_info_t info,
                               ucd_type_t *newtype);

/* Gives back the caller's handle and sets *type to UCD_TYPE__NULL. What was built on the type, and
 * requests that use it, keep what they need. Also valid after the last ucd_finalize. MPI 5.1.9.
 * Returns: NOT_INITIALIZED (before the first ucd_init only); INVALID_ARG (type is NULL; *type is
 * UCD_TYPE__NULL or predefined). */
UCD_API int ucd_free(ucd_type_t *type);

/* ---------------------------------------------------------------------------------------------- */
/* Asking about types                                                                             */
/* ---------------------------------------------------------------------------------------------- */

/* The packed bytes of one type. MPI 5.1.5 (MPI_Type_size).
 * Returns: NOT_INITIALIZED, INVALID_ARG. */
UCD_API int ucd_get_size(ucd_type_t type, uintptr_t *size);

/* Lower bound and extent in bytes; the next element of an array starts one extent on. MPI 5.1.7.
 * Returns: NOT_INITIALIZED, INVALID_ARG. */
UCD_API int ucd_get_extent(ucd_type_t type, intptr_t *lb, intptr_t *extent);

/* The lowest byte touched, and the distance from it to the end of the highest; explicit bounds play
 * no part, and an empty type has 0 and 0. MPI 5.1.8. Returns: NOT_INITIALIZED, INVALID_ARG. */
UCD_API int ucd_get_true_extent(ucd_type_t type, intptr_t *lb, intptr_t *extent);

/*
 * What count elements of a type look like in memory. Segments are those of ucd_iov. Sizes and
 * offsets are bytes.
 *
 * The box is what cudaMemcpy2D/3D, a strided RDMA work request or a DMA engine takes: the data is
 * blocks of box_block bytes, and block (i0, i1, ...), 0 <= ik < box_count[k], lies at buf +
 * box_start + i0 * box_stride[0] + i1 * box_stride[1] + ...; the last index varies fastest in
 * packed order. One contiguous piece has box_dims 1, box_count[0] 1 and box_stride[0] = box_block.
 * Entries from box_dims on are 0, and all of the box is 0 if box_dims is.
 */
typedef struct {
    uint32_t struct_size; /* see Conventions */
    uint32_t contiguous;  /* 1: at most one segment; else 0 */
    uint32_t box_dims;    /* 1 to 4; 0: empty, or not a regular box */
    uint32_t reserved;    /* set to 0 */
    uint64_t bytes;       /* packed size */
    uint64_t segments;    /* number of them, and the shortest and longest; 0 if there are none */
    uint64_t min_segment;
    uint64_t max_segment;
    int64_t low;        /* what is touched lies in [buf + low, buf + high): an RMA bounds check; */
    int64_t high;       /* 0 and 0 if nothing is */
    ucd_type_t element; /* the one predefined type that it is made of, else UCD_TYPE__NULL */
    int64_t box_start;
    int64_t box_stride[4]; /* outermost first */
    uint64_t box_block;
    uint64_t box_count[4]; /* outermost first */
} ucd_layout_t;

/* Fills in *layout, whose struct_size the caller has set. Touches no data.
 * Returns: NOT_INITIALIZED, INVALID_ARG, OVERFLOW, OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_get_layout(uintptr_t count, ucd_type_t type, ucd_layout_t *layout);

/* Says which memory the first byte that (count, type) touches at buf is in, as the value of
 * ucd.inbuf or ucd.outbuf that would say so: host, pinned, managed, or a backend's name, a colon and
 * the device's number; host if nothing is touched. memory has memory_size bytes; 32 always suffice.
 * Of hints only ucd.gpu is looked at. Initialises no GPU driver. No counterpart in MPI.
 * Returns: NOT_INITIALIZED, INVALID_ARG, OVERFLOW, TRUNCATED (memory is not written), OUT_OF_MEM,
 * INTERNAL. */
UCD_API int ucd_get_memory(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                           char *memory, uintptr_t memory_size);

/* Writes the type as it was built, the normalised layout that the kernels see, and what follows from
 * it, as text that ends in a NUL: lines of the form "key: value". The keys stay; later versions may
 * add some, and the wording of values that are not numbers may change. *needed is set, also when the
 * result is TRUNCATED, to the text_size that suffices, NUL included. text may be NULL if text_size
 * is 0.
 *
 *   type             the tree as built, a line for each type, indented by its depth
 *   size, lb, extent, true_lb, true_extent, alignment: bytes
 *   explicit_bounds  yes or no
 *   step             a line for each constructor, from the innermost on: the layout that it made of
 *                      what is in it, and the rewrites by which
 *   layout           the normalised layout
 *   segments         number of them
 *   kernel           a line for each backend, for one of the type and for several: what moves it,
 *                      and why; or why the backend is absent
 *   advice           none, iov, dma or pack, and the reason: how one of the type is best sent
 *   flattened        bytes that ucd_flatten writes
 *   memory           bytes that the type holds by now: tree, lists, layout and plans
 *
 * Long lists, deep trees, many nodes and many steps are cut short by "...". A part of a layout that
 * comes again is written once, behind a number, and named by it then: [@0 #1: ..., @900 #1].
 * Returns: NOT_INITIALIZED; INVALID_ARG; TRUNCATED (text_size < *needed, 0 included; text is not
 * written); OUT_OF_MEM; INTERNAL. */
UCD_API int ucd_describe(ucd_type_t type, char *text, uintptr_t text_size, uintptr_t *needed);

/* ---------------------------------------------------------------------------------------------- */
/* Moving data                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Rules for every function that moves data.
 *
 * Stream     The packed stream of (count, type) is the type map's elements, count times, in order
 *            and without gaps (MPI 5.1, 5.2; UCD adds no header and converts nothing). An offset
 *            skips bytes of it, at a cost that does not grow with the offset. A call moves
 *            min(max_pack_bytes or insize, total - offset) bytes, always, and says how many in
 *            actual_* before it returns. An offset at the end moves 0; beyond it is INVALID_ARG.
 * Fragments  With REPLACE any offset and length is good, in any order and from any thread. With
 *            another op an offset that is not on an element boundary is INVALID_ARG, the length is
 *            rounded down to whole elements, and if none fits though some remain, the call is
 *            TRUNCATED. An element is a predefined type's, a whole pair for pair types.
 * Op         See ucd_op_t: out = out op in. NOT_SUPPORTED if the type does not take it; the
 *            message names the pair.
 * Memory     Buffers may be pageable or pinned host memory, device, managed or peer-mapped memory,
 *            in any combination and at any alignment, as far as backends are available. UCD asks
 *            which kind it is of the first byte that the type really touches; all bytes of one
 *            buffer must be of that kind and device. No call initialises a GPU driver unless a
 *            buffer, hint or stream requires one; while the process has initialised none, all
 *            memory is host memory.
 * Stores     No byte outside the range is ever stored, not even with its old value, so fragments
 *            may be written at the same time. Loads stay between the first and the last byte
 *            touched, and within aligned 64-byte lines that hold a touched byte.
 * Aliasing   The input and the output range of one call must not overlap. Where elements of the
 *            output overlap each other, each byte receives that of one of the values, unspecified
 *            which; a reduction leaves an unspecified result.
 * Hints      ucd.gpu, ucd.inbuf, ucd.outbuf, ucd.peers, ucd.engine, ucd.max_blocks, ucd.threads.
 * Order      A call is ordered after no stream: buffers must be ready. Two outstanding calls, and
 *            the members of a batch, are unordered.
 *
 * Returns, every one: NOT_INITIALIZED; INVALID_ARG (Conventions, and the above); OVERFLOW (count
 * times type); NOT_SUPPORTED (op and type; a hint names a backend that is not available, or an
 * engine that cannot do it); TRUNCATED (above); OUT_OF_MEM; DEVICE; INTERNAL.
 *
 * Requests. A function with a request sets *request to UCD_REQUEST__NULL if the work was complete
 * on return; what it held before is not looked at. Else, until ucd_test, ucd_wait or ucd_waitall
 * has reset the request to UCD_REQUEST__NULL, input must not be changed, and output neither read
 * nor written. Type, info and descriptors may be freed at once. Such a function never waits for a
 * device: host-to-host work runs inside the call, and what finds no staging buffer is queued.
 * Testing or waiting for any request progresses all queued work, so no wait depends on another
 * thread.
 */

/* Packs bytes [inoffset, ...) of the stream of (incount, type) at inbuf into outbuf, which has
 * max_pack_bytes bytes. May return before the work is done: see Requests. */
UCD_API int ucd_ipack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
                      void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                      ucd_info_t info, ucd_op_t op, ucd_request_t *request);

/* Unpacks the insize bytes at inbuf to bytes [outoffset, ...) of the stream of (outcount, type) at
 * outbuf. May return before the work is done: see Requests. */
UCD_API int ucd_iunpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                        ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                        ucd_info_t info, ucd_op_t op, ucd_request_t *request);

/* As ucd_ipack; waits until the work is done. MPI 5.2 (MPI_Pack). */
UCD_API int ucd_pack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
                     void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                     ucd_info_t info, ucd_op_t op);

/* As ucd_iunpack; waits until the work is done. MPI 5.2 (MPI_Unpack). */
UCD_API int ucd_unpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                       ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                       ucd_info_t info, ucd_op_t op);

/* Moves the whole stream of (incount, intype) at inbuf to (outcount, outtype) at outbuf, as packing
 * and unpacking would, without a packed buffer of the caller's. If the output has more room, its
 * first bytes are filled. REPLACE looks at bytes only; another op needs both sides to be the same
 * sequence of elements, as far as the input goes. *actual_bytes is the bytes moved. May return
 * before the work is done: see Requests. Matching: MPI 3.3.1; reductions: MPI 12.3.4
 * (MPI_Accumulate).
 * Also: TRUNCATED (the output has less room; nothing moves); INVALID_ARG (element sequences differ
 * under an op). */
UCD_API int ucd_icopy(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
                      uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes,
                      ucd_info_t info, ucd_op_t op, ucd_request_t *request);

/* As ucd_icopy; waits until the work is done. */
UCD_API int ucd_copy(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
                     uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes,
                     ucd_info_t info, ucd_op_t op);

/* Makes progress, and sets *completed to 1 and *request to UCD_REQUEST__NULL if the request is
 * done, else *completed to 0. Does not wait. A *request that is UCD_REQUEST__NULL is done.
 * Returns: NOT_INITIALIZED (before the first ucd_init only); INVALID_ARG; or how the work failed,
 * with *completed 1 and the request reset: OUT_OF_MEM, DEVICE, INTERNAL. */
UCD_API int ucd_test(ucd_request_t *request, int *completed);

/* Waits until the request is done and resets it. A *request that is UCD_REQUEST__NULL is done.
 * Returns: as ucd_test. */
UCD_API int ucd_wait(ucd_request_t *request);

/* Waits for all count requests and resets each, also if some fail; entries may be
 * UCD_REQUEST__NULL.
 * Returns: NOT_INITIALIZED; INVALID_ARG; the failure of the failed request of lowest index, as
 * ucd_wait. */
UCD_API int ucd_waitall(uintptr_t count, ucd_request_t *requests);

/* One member of a batch: the arguments of ucd_ipack; actual_pack_bytes is output. */
typedef struct {
    const void *inbuf;
    uintptr_t incount;
    ucd_type_t type;
    uintptr_t inoffset;
    void *outbuf;
    uintptr_t max_pack_bytes;
    uintptr_t actual_pack_bytes;
    uint64_t reserved[2]; /* zero */
} ucd_pack_desc_t;

/* One member of a batch: the arguments of ucd_iunpack; actual_unpack_bytes is output. */
typedef struct {
    const void *inbuf;
    uintptr_t insize;
    void *outbuf;
    uintptr_t outcount;
    ucd_type_t type;
    uintptr_t outoffset;
    uintptr_t actual_unpack_bytes;
    uint64_t reserved[2]; /* zero */
} ucd_unpack_desc_t;

/* Packs count members, as ucd_ipack each would, with one info, one op and one request, and sets
 * actual_pack_bytes of each before it returns. All members are checked first: if one is wrong, none
 * starts, no actual_pack_bytes is set, and the message gives its index. descs may be freed on
 * return. Output ranges must not overlap. May return before the work is done: see Requests.
 * INVALID_ARG also: reserved is not zero. */
UCD_API int ucd_ipack_batch(ucd_pack_desc_t *descs, uintptr_t count, ucd_info_t info, ucd_op_t op,
                            ucd_request_t *request);

/* Unpacks count members: ucd_ipack_batch with ucd_iunpack in place of ucd_ipack. */
UCD_API int ucd_iunpack_batch(ucd_unpack_desc_t *descs, uintptr_t count, ucd_info_t info,
                              ucd_op_t op, ucd_request_t *request);

/* ---------------------------------------------------------------------------------------------- */
/* Moving data in a native stream                                                                 */
/* ---------------------------------------------------------------------------------------------- */

/*
 * These put the work into a stream of the caller's, ordered there with what else is in it, and
 * return without waiting; nothing else is synchronised. Buffers, ready and usable in stream order,
 * must be reachable from the stream's device. Type, info and descriptors may be freed on return.
 * actual_* is set before the return. Failures of the work itself appear in the stream, in the
 * vendor's way.
 *
 * A call can be captured into a CUDA or HIP graph once ucd_prepare was made for its type and op;
 * the type must then outlive the graph.
 *
 * Returns, besides those of Moving data: NOT_SUPPORTED (the backend named by the stream is not
 * available; capture of what is not prepared); INVALID_ARG (stream.backend is NULL; no such device;
 * native or context is NULL where the backend needs one).
 */
typedef struct {
    const char *backend; /* "cuda", "hip", "ze" */
    int device;          /* number of the device, as that backend counts */
    void *native;        /* cudaStream_t, hipStream_t, ze_command_list_handle_t */
    void *context;       /* ze_context_handle_t for ze; else not looked at */
} ucd_stream_t;

/* ucd_pack in stream order. */
UCD_API int ucd_pack_stream(const void *inbuf, uintptr_t incount, ucd_type_t type,
                            uintptr_t inoffset, void *outbuf, uintptr_t max_pack_bytes,
                            uintptr_t *actual_pack_bytes, ucd_info_t info, ucd_op_t op,
                            ucd_stream_t stream);

/* ucd_unpack in stream order. */
UCD_API int ucd_unpack_stream(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                              ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                              ucd_info_t info, ucd_op_t op, ucd_stream_t stream);

/* ucd_ipack_batch in stream order. */
UCD_API int ucd_pack_batch_stream(ucd_pack_desc_t *descs, uintptr_t count, ucd_info_t info,
                                  ucd_op_t op, ucd_stream_t stream);

/* ucd_iunpack_batch in stream order. */
UCD_API int ucd_unpack_batch_stream(ucd_unpack_desc_t *descs, uintptr_t count, ucd_info_t info,
                                    ucd_op_t op, ucd_stream_t stream);

/* Does now all that a first use of (count, type) with this op would do on the stream's device:
 * choosing and loading kernels, uploading tables, which stay as long as the type. Moves no data;
 * may wait for the device. Returns: as the other functions with a stream, but no TRUNCATED. */
UCD_API int ucd_prepare(uintptr_t count, ucd_type_t type, ucd_op_t op, ucd_stream_t stream,
                        ucd_info_t info);

/* ---------------------------------------------------------------------------------------------- */
/* I/O vectors                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Segments are the contiguous pieces of (count, type) in packed order: pieces next to each other
 * both in that order and in memory are one segment, and none is empty. Skipping does not walk from
 * the start. buf is only added to; no data is touched, so any kind of memory will do.
 *
 * Returns, every one: NOT_INITIALIZED; INVALID_ARG (Conventions; an offset beyond the end);
 * OVERFLOW (count times type); OUT_OF_MEM; INTERNAL. No counterpart in MPI.
 */

/* The number of segments: exactly what repeated calls of ucd_iov yield. */
UCD_API int ucd_iov_len(uintptr_t count, ucd_type_t type, uintptr_t *iov_len);

/* *iov_len: the most whole segments, from the first on, whose bytes together are at most
 * max_iov_bytes; *actual_iov_bytes: their bytes. */
UCD_API int ucd_iov_len_max(uintptr_t count, ucd_type_t type, uintptr_t max_iov_bytes,
                            uintptr_t *iov_len, uintptr_t *actual_iov_bytes);

/* Writes up to max_iov_len segments to iov, from segment number iov_offset on, and their number to
 * *actual_iov_len: 0 at the end. iov may be NULL if max_iov_len is 0. */
UCD_API int ucd_iov(const void *buf, uintptr_t count, ucd_type_t type, uintptr_t iov_offset,
                    struct iovec *iov, uintptr_t max_iov_len, uintptr_t *actual_iov_len);

/* Writes to iov the segments of bytes [offset, offset + max_bytes) of the packed stream, as far as
 * they exist and max_iov_len entries hold them; the first and the last may be cut. *actual_iov_len
 * is the number of entries and *actual_bytes their bytes. iov may be NULL if max_iov_len is 0. */
UCD_API int ucd_iov_bytes(const void *buf, uintptr_t count, ucd_type_t type, uintptr_t offset,
                          uintptr_t max_bytes, struct iovec *iov, uintptr_t max_iov_len,
                          uintptr_t *actual_iov_len, uintptr_t *actual_bytes);

/* ---------------------------------------------------------------------------------------------- */
/* Flattening                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

/*
 * A type as bytes, for another process: position independent, little endian, of fixed width,
 * versioned, with a checksum, and the same for the same type every time. Buffers are host memory
 * and need no alignment. Bounds and alignment travel with the type: the reader's layout is the
 * writer's, also if its C types differ. Data is not converted; absolute displacements stay as they
 * are.
 */

/* The bytes that ucd_flatten writes for this type.
 * Returns: NOT_INITIALIZED, INVALID_ARG, OVERFLOW, OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_flatten_size(ucd_type_t type, uintptr_t *size);

/* Writes the type to flattened, which has flattened_size bytes; those past ucd_flatten_size's
 * number are left alone. Predefined types too.
 * Returns: NOT_INITIALIZED; INVALID_ARG; TRUNCATED (too few bytes; none is written); OVERFLOW;
 * OUT_OF_MEM; INTERNAL. */
UCD_API int ucd_flatten(ucd_type_t type, void *flattened, uintptr_t flattened_size);

/* Makes a type from exactly the bytes that ucd_flatten wrote. The result is a new handle, to be
 * freed, with the size, bounds, packed stream and speed of the original, and so is what is built on
 * it. The bytes may come from anyone: each input gives a valid type or a status, in time and memory
 * linear in flattened_size. So layout and plans of such a type, and of one built on it, expand to at
 * most 64 KiB + 16 times its flattened size; what would take more stays as it was described: correct,
 * perhaps slower than the original. A data representation that this machine does not have moves
 * under REPLACE, and is NOT_SUPPORTED in reductions.
 * Returns: NOT_INITIALIZED; INVALID_ARG (newtype is NULL; flattened is NULL though flattened_size
 * is not 0); CORRUPT (not such bytes, too few or too many included); NOT_SUPPORTED (a newer version
 * of the format); OUT_OF_MEM; INTERNAL. */
UCD_API int ucd_unflatten(ucd_type_t *newtype, const void *flattened, uintptr_t flattened_size);

#ifdef __cplusplus
}
#endif

#endif /* UCD_H_INCLUDED */
