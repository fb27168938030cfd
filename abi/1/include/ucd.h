/*
 * ucd.h - UCD: describes noncontiguous data by types, and moves it.
 *
 * A type says where bytes lie in memory and in which order they are packed (the MPI datatype
 * model). UCD packs, unpacks, copies and reduces data of any type, lists it as I/O vectors, and
 * turns types into bytes for other processes. Where this header gives no rule, chapter 5 of MPI-4.1
 * decides. "MPI 5.1.2" below means a section of that standard.
 *
 * Guides and reference pages are installed in share/doc/ucd. Start with
 * share/doc/ucd/guide/first-program.md.
 *
 * ================================================================================================
 * Conventions. They hold for every function. A function's comment says only what it adds.
 * ================================================================================================
 *
 * Statuses    A function returns UCD_SUCCESS or a positive UCD_ERR__* code, unless its comment says
 *             otherwise. No C++ exception crosses this interface, and UCD never aborts.
 *             "Returns:" lists the failures. These mean the same everywhere:
 *               NOT_INITIALIZED  UCD is not initialised: no ucd_init has succeeded, or the last
 *                                ucd_finalize was called. If ucd_init has failed, the message
 *                                repeats why. This is checked first. ucd_strerror,
 *                                ucd_last_error, ucd_version and ucd_info_* work at any time;
 *                                ucd_free, ucd_plan_free, ucd_test, ucd_wait and ucd_waitall also
 *                                after the last ucd_finalize.
 *               INVALID_ARG      an argument breaks a rule: it is NULL and may not be (see Null
 *                                rules); a type handle is UCD_TYPE__NULL or a small integer that is
 *                                no predefined type; a count or block length is negative; an op,
 *                                order or distribution is not one of the constants.
 *               OUT_OF_MEM       an allocation of host or device memory failed.
 *               OVERFLOW         a size, a bound or a displacement does not fit (see Units).
 *               INTERNAL         a defect in UCD, reported instead of an abort.
 * Failure     If a call fails before work began, it changes nothing: no output is written, nothing
 *             leaks, all existing handles stay valid. If the work itself fails (reported by a
 *             blocking call, ucd_test, ucd_wait or ucd_waitall), the content of the destination
 *             range is unspecified, and the request, if there is one, is freed.
 * Units       Counts, block lengths, displacements and strides are intptr_t. They count elements
 *             (extents of oldtype), or bytes in functions with an h in the name. Sizes and buffer
 *             positions are uintptr_t, in bytes. A type's size, bounds and true bounds must fit
 *             INTPTR_MAX; if not, creating it returns OVERFLOW. A call whose count times the type
 *             does not fit returns OVERFLOW too. There is no 32-bit limit.
 * Null rules  A noncontiguous buffer may be NULL: displacements may be absolute addresses (MPI
 *             5.1.12, MPI_BOTTOM). A packed buffer may be NULL only if 0 bytes move. An input array
 *             may be NULL only if it has 0 entries. A ucd_info_t may be UCD_INFO__NULL. A pointer
 *             to an output may never be NULL.
 * Ownership   The caller owns what a function creates: it frees a ucd_type_t with ucd_free, a
 *             ucd_info_t with ucd_info_free and a ucd_plan_t with ucd_plan_free, and completes a
 *             ucd_request_t with ucd_test, ucd_wait or ucd_waitall. Types are immutable and
 *             reference counted: a type may be freed while requests and derived types still use it.
 *             Freeing sets a handle to NULL, and is SUCCESS if it is NULL already.
 *             Arrays, strings and infos are read or copied during the call; the caller may change
 *             or free them when it returns. Using a handle that UCD did not create, or that was
 *             freed, is undefined behaviour, and INVALID_ARG with ucd.check=handles.
 * Threads     Any thread may call any function at any time, with these exceptions. A request, a
 *             plan (except by ucd_plan_start_with and ucd_plan_start_with_stream), an info that is
 *             being modified, and a native stream are used by one thread at a time. No handle is
 *             freed while another thread is in a call that uses it. During the last ucd_finalize,
 *             no other thread is in UCD except in ucd_init (which waits for its end) and
 *             ucd_finalize. Threads may share an info that no thread modifies. Table:
 *             share/doc/ucd/reference/thread-safety.md.
 * Blocking    A function works in the calling thread, and its work is complete when it returns,
 *             unless its comment says otherwise. Only functions that move data access user buffers.
 * struct_size The caller sets it to sizeof the struct as compiled (4 at least, else INVALID_ARG).
 *             UCD writes no byte beyond that size, and does not change struct_size. A newer program
 *             may have members that this version does not know: UCD does not write them, and they
 *             must be 0 where it reads the struct. Members named reserved must be 0, too (else
 *             INVALID_ARG), and UCD writes 0 there. So set the whole struct to zero first.
 * Lengths     A function that fills a text or an array is told the room for it. If that is 0, the
 *             pointer may be NULL, and the function only tells how much there is (*needed counts
 *             the NUL of a text). If it is not 0 and a text does not fit, that is TRUNCATED: only
 *             *needed is written. Of an array, as many entries are written as fit.
 */
#ifndef UCD_H_INCLUDED
#define UCD_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef UCD_PREFIX
#include <ucd_prefix.h>
#endif

/* Only UCD's own build defines UCD_HIDDEN, for static libraries: they export nothing. */
#if !defined(__GNUC__) && !defined(__clang__)
#define UCD_API
#elif defined(UCD_HIDDEN)
#define UCD_API __attribute__((visibility("hidden")))
#else
#define UCD_API __attribute__((visibility("default")))
#endif

#define UCD_VERSION_MAJOR 1
#define UCD_VERSION_MINOR 0
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
    UCD_ERR__CORRUPT,   /* the bytes are not a flattened type, or not an IPC handle */
    UCD_ERR__TRUNCATED, /* the output buffer is too small */
    UCD_ERR__DEVICE,    /* a GPU driver or runtime call failed */
    UCD_ERR__INTERNAL
};

/* The name of a status ("UCD_ERR__OVERFLOW"); for any other number, a fixed text. Never NULL. The
 * string is static. Valid at any time. */
UCD_API const char *ucd_strerror(int rc);

/* The calling thread's last failure as a sentence that names function, argument, value and rule:
 * "ucd_create_vector: blocklength is -3; it must be >= 0". "" if nothing has failed in this thread;
 * a success does not clear it. Never NULL. The string belongs to UCD and is valid until the next
 * failure in this thread. Valid at any time. */
UCD_API const char *ucd_last_error(void);

/* ---------------------------------------------------------------------------------------------- */
/* Handles                                                                                        */
/* ---------------------------------------------------------------------------------------------- */

typedef struct ucd_type *ucd_type_t;
typedef struct ucd_request *ucd_request_t;
typedef struct ucd_info *ucd_info_t;
typedef struct ucd_plan *ucd_plan_t;

#define UCD_REQUEST__NULL ((ucd_request_t)(uintptr_t)0) /* the work is complete */
#define UCD_INFO__NULL ((ucd_info_t)(uintptr_t)0)       /* no hints */
#define UCD_PLAN__NULL ((ucd_plan_t)(uintptr_t)0)       /* no plan */

/*
 * Predefined types: compile-time constants, valid in static initialisers and before ucd_init. The
 * values are part of the ABI. They cannot be freed. Names and meaning: MPI 3.2.2, 6.9.2, 6.9.4.
 *
 * A pair type has the extent and alignment of its C struct. It is packed without padding between or
 * after the members: DOUBLE_INT has size 12 and extent 16. FLOAT16 is IEEE 754 binary16, BFLOAT16
 * the upper half of a binary32; both have 2 bytes and alignment 2. FLOAT8_E4M3 and FLOAT8_E5M2 are
 * the 8-bit floating point formats of the Open Compute Project (OFP8 1.0); both have 1 byte. E4M3
 * has no infinity, and one NaN of each sign (0x7f, 0xff).
 */
/* clang-format off */
#define UCD_TYPE__NULL                  ((ucd_type_t)(uintptr_t)0)  /* no type; not an empty type */
/*                                                            value    C type */
#define UCD_TYPE___BOOL                 ((ucd_type_t)(uintptr_t)1)  /* _Bool */
#define UCD_TYPE__CHAR                  ((ucd_type_t)(uintptr_t)2)  /* char (text) */
#define UCD_TYPE__SIGNED_CHAR           ((ucd_type_t)(uintptr_t)3)  /* signed char */
#define UCD_TYPE__UNSIGNED_CHAR         ((ucd_type_t)(uintptr_t)4)  /* unsigned char */
#define UCD_TYPE__WCHAR_T               ((ucd_type_t)(uintptr_t)5)  /* wchar_t */
#define UCD_TYPE__BYTE                  ((ucd_type_t)(uintptr_t)6)  /* uninterpreted byte */
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
#define UCD_TYPE__FLOAT8_E4M3           ((ucd_type_t)(uintptr_t)61) /* OFP8: torch.float8_e4m3fn */
#define UCD_TYPE__FLOAT8_E5M2           ((ucd_type_t)(uintptr_t)62) /* OFP8: torch.float8_e5m2 */
/* clang-format on */

/*
 * Operations (MPI 6.9.2, 6.9.4). The result is out = out op in, element by element; REPLACE and the
 * conversions store the new value. The values of the constants are part of the ABI. A type supports
 * these operations (anything else: NOT_SUPPORTED):
 *
 *   every type                          REPLACE
 *   integers, including SIGNED_CHAR     MAX MIN SUM PROD LAND LOR LXOR BAND BOR BXOR; SUM and PROD
 *     and UNSIGNED_CHAR                   wrap modulo 2^N, also for signed types
 *   _BOOL                               LAND LOR LXOR
 *   BYTE                                BAND BOR BXOR
 *   FLOAT8_* FLOAT16 BFLOAT16 FLOAT     MAX MIN SUM PROD; the 8-bit and 16-bit types are computed
 *     DOUBLE LONG_DOUBLE                  in float and rounded to nearest, ties to even; what is
 *                                         too large becomes infinity, in E4M3 the NaN of its sign
 *   C_COMPLEX C_DOUBLE_COMPLEX          SUM PROD; the product of (a, b) and (c, d) is
 *     C_LONG_DOUBLE_COMPLEX               (ac - bd, ad + bc)
 *   pair types                          MAXLOC MINLOC; of equal values the lowest index wins
 *   CHAR WCHAR_T                        only REPLACE
 *   a derived type                      those that all predefined types in it support
 *
 * On devices, types that contain long double support REPLACE only.
 *
 * NaN and zero in MAX and MIN: out changes only if in compares greater (MAX) or less (MIN). So a
 * NaN in in is ignored, a NaN in out stays with all its bits, and a zero in out keeps its sign.
 * (C's fmax differs where out is a NaN: it returns the number.) MAXLOC and MINLOC compare values in
 * the same way: with a NaN on either side, out stays.
 *
 * CONVERT and CONVERT_SAT are for moves with two types (with a packed side: INVALID_ARG). Element i
 * of the output becomes element i of the input in the output's type. The integer types, _BOOL,
 * FLOAT8_*, FLOAT16, BFLOAT16, FLOAT and DOUBLE are converted to each other, and the two complex
 * types C_COMPLEX and C_DOUBLE_COMPLEX to each other; anything else is NOT_SUPPORTED. The bits are
 * the same on every device and however a move is divided:
 *
 *   equal representations       bits are copied
 *   to a floating type          rounded once, to nearest, ties to even; a NaN becomes the quiet NaN
 *                                 of its sign (in FLOAT 0x7fc00000, without the sign); what is too
 *                                 large becomes infinity, in FLOAT8_E4M3 the NaN of its sign; with
 *                                 CONVERT_SAT it becomes the largest finite number, and so does an
 *                                 infinity
 *   floating to an integer      rounded toward zero; what is too large or too small becomes the
 *                                 nearest value of the integer type, a NaN becomes 0
 *   integer to an integer       modulo 2^N
 *   to _BOOL                    1 if not zero (a NaN is not), else 0
 *   from _BOOL                  a byte that is not 0 is 1
 *
 * Each offset is an element boundary of its side. `bytes` counts the input, rounded down to whole
 * elements (none fits: TRUNCATED), actual_bytes the output: share/doc/ucd/guide/converting.md has
 * the loop. The side with fewer elements limits a move; ucd_copy is TRUNCATED if it is the output.
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
    UCD_OP__MINLOC,
    UCD_OP__CONVERT,
    UCD_OP__CONVERT_SAT
};

/* Array storage order: consecutive values of the last (C) or first (FORTRAN) index are adjacent. */
enum { UCD_ORDER__C = 0, UCD_ORDER__FORTRAN = 1 };

/* How ucd_create_darray distributes one dimension, and its default distribution argument. */
enum { UCD_DISTRIBUTE__BLOCK = 0, UCD_DISTRIBUTE__CYCLIC = 1, UCD_DISTRIBUTE__NONE = 2 };
#define UCD_DISTRIBUTE__DFLT_DARG (-1)

/* ---------------------------------------------------------------------------------------------- */
/* Life cycle                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

/* Initialises the library and finds the backends: the code for the CPU, and plugins for GPUs. Calls
 * are counted: each library in a process may call it, in any thread, and calls ucd_finalize once
 * for each success. While another thread is in the last ucd_finalize, it waits for the end of that
 * and starts the library again. Only the first call reads the environment, and the keys of info
 * that are marked "first ucd_init only" below. It initialises no GPU driver. It does not fail if a
 * backend is missing; ucd_backend_get says why one is.
 * Environment: UCD_<KEY> gives the default of key ucd.<key> (UCD_BACKENDS, UCD_GPU, UCD_INBUF,
 * UCD_OUTBUF, UCD_PEERS, UCD_ENGINE, UCD_MAX_BLOCKS, UCD_THREADS, UCD_LIST_MEMORY, UCD_CHECK,
 * UCD_ZE_CONTEXT), unless UCD_IGNORE_ENVIRONMENT is 1; the info of a call overrides it.
 * UCD_LOG_LEVEL sets what UCD prints to stderr: off (the default), error (each failure; once, each
 * variable UCD_* that is unknown or ignored) or plan (also which kernel was chosen for each layout,
 * and why). UCD_PLUGIN_PATH is a list of folders, separated by colons, that are searched for
 * backend plugins, and no others are. A program that runs with more rights than the user who
 * started it ignores all of these, and has no device backends.
 * Returns: INVALID_ARG (an environment variable has a bad value), OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_init(ucd_info_t info);

/* Undoes one ucd_init. The last call waits for all outstanding work and releases everything; no
 * other thread may be in UCD then, except in ucd_init and ucd_finalize. Afterwards ucd_free,
 * ucd_test, ucd_wait and ucd_waitall may still be called (all requests are complete), and ucd_init
 * may start the library again. Types need not have been freed.
 * Returns: NOT_INITIALIZED, INTERNAL. */
UCD_API int ucd_finalize(void);

/* The version of the loaded library. UCD_VERSION_* is the version compiled against. Valid at any
 * time. Returns: INVALID_ARG. */
UCD_API int ucd_version(int *major, int *minor, int *patch);

/* ---------------------------------------------------------------------------------------------- */
/* Hints                                                                                          */
/* ---------------------------------------------------------------------------------------------- */

/*
 * An info is a set of (key, value) strings. It can be used before ucd_init and after ucd_finalize.
 * Values are checked when set. If a hint is not true of the buffer, behaviour is undefined.
 *
 *   ucd.backends    first ucd_init only: comma-separated backend names; default: all that are
 *                     found; seq (the CPU) is always used
 *   ucd.gpu         none: all buffers of the call are host memory, so no pointer is looked up
 *   ucd.inbuf       host | pinned | managed | cuda:N | hip:N | ze:N : the memory that the input
 *                     buffer is in, so it is not looked up; N is the device that does the work,
 *                     and memory mapped from a peer device counts as device N's own
 *   ucd.outbuf      the same for the output buffer
 *   ucd.peers       auto | none ; with none, no device accesses another device's memory: data
 *                     between them goes through host memory
 *   ucd.engine      auto | kernel | dma ; with dma, a device uses copy engines only:
 *                     NOT_SUPPORTED if they cannot do the layout
 *   ucd.max_blocks  integer >= 1: the most thread blocks that a call may use on a device; default:
 *                     as many as the work needs, and to and from host memory as many as saturate
 *                     the bus
 *   ucd.threads     integer >= 1: host threads that one call may use, to move data on the CPU or
 *                     to prepare a large new batch for a GPU; default 1
 *   ucd.list_memory first ucd_init only: bytes of memory of long lists that are kept for later
 *                     types, half for displacements and half for lengths; default 512 MiB
 *   ucd.check       first ucd_init only: handles: every handle is looked up (Ownership); or none
 *   ucd.environment first ucd_init only: yes | no: whether variables UCD_<KEY> are read
 *   ucd.ze.context  first ucd_init only: a ze_context_handle_t as an integer, of the first Level
 *                     Zero driver; UCD works in that context until the process ends
 *
 * An unknown key that begins with "ucd." is INVALID_ARG, so that a misspelt hint is noticed; which
 * keys there are depends on the version (ucd_version). Keys ucd.ucx.* belong to libucd-ucx, which
 * checks them where it uses them, and keys ucd.mpi.* are reserved for libucd-mpi. All other keys
 * are kept and have no effect on UCD. All keys and variables, those of libucd-ucx included, are in
 * share/doc/ucd/reference/keys-and-environment.md.
 */

/* Creates an empty info; the caller frees it with ucd_info_free. Returns: INVALID_ARG, OUT_OF_MEM,
 * INTERNAL. */
UCD_API int ucd_info_create(ucd_info_t *info);

/* Sets a key, or replaces its value. key and value are copied; neither may be NULL. After a failure
 * the old value stays. Returns: INVALID_ARG (NULL; a bad value of a known key; an unknown key that
 * begins with "ucd.", for which the message names the nearest known one), OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_info_set(ucd_info_t info, const char *key, const char *value);

/* Copies the value of key to value: see Lengths. This works for other keys too, so libraries on top
 * of UCD can have their own. *needed is 0 if key is not set or info is UCD_INFO__NULL. MPI 10
 * (MPI_Info_get_string). Returns: INVALID_ARG, TRUNCATED. */
UCD_API int ucd_info_get(ucd_info_t info, const char *key, char *value, uintptr_t value_size,
                         uintptr_t *needed);

/* Copies the name of the nth key that is set to key: see Lengths. So libraries on top of UCD can
 * find misspelt keys of their own. n counts from 0, in ascending order of the names' bytes. *needed
 * is 0 if at most n keys are set or info is UCD_INFO__NULL. MPI 10 (MPI_Info_get_nthkey).
 * Returns: INVALID_ARG, TRUNCATED. */
UCD_API int ucd_info_get_nthkey(ucd_info_t info, uintptr_t n, char *key, uintptr_t key_size,
                                uintptr_t *needed);

/* Frees *info. Work that was started with the info and is not complete does not need it.
 * Returns: INVALID_ARG. */
UCD_API int ucd_info_free(ucd_info_t *info);

/* ---------------------------------------------------------------------------------------------- */
/* Backends                                                                                       */
/* ---------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t struct_size; /* see Conventions */
    uint32_t available;   /* 1: usable; 0: not usable, reason says why */
    uint32_t devices;     /* number of devices; 1 for the CPU */
    char name[16];        /* "seq" (the CPU), "cuda", "hip", "ze" */
    char version[32];     /* of the driver or runtime in use; "" if unknown */
    char reason[256];     /* why it, or some of its devices, cannot be used; "" if all can be */
} ucd_backend_desc_t;

/* The number of backends that this library knows, available or not. Constant until the last
 * ucd_finalize. Returns: NOT_INITIALIZED, INVALID_ARG, INTERNAL. */
UCD_API int ucd_backend_count(int *count);

/* Describes backend number index (0 to count - 1) in *desc, whose struct_size the caller has set.
 * May initialise GPU drivers.
 * Returns: NOT_INITIALIZED, INVALID_ARG (index; desc; struct_size), INTERNAL. */
UCD_API int ucd_backend_get(int index, ucd_backend_desc_t *desc);

/* Sets *supported to 1 if the named backend supports this op for this type, predefined or derived;
 * else, or if the backend is not available, to 0. For CONVERT and CONVERT_SAT: whether all elements
 * of the type can be converted to FLOAT. May initialise that backend's driver.
 * Returns: NOT_INITIALIZED, INVALID_ARG (no such op or type; backend is NULL or no known name),
 * INTERNAL. */
UCD_API int ucd_op_is_supported(ucd_op_t op, ucd_type_t type, const char *backend, int *supported);

/* ---------------------------------------------------------------------------------------------- */
/* Creating types                                                                                 */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Rules for every constructor.
 *
 * The new type is written to *newtype. Unlike in MPI, no type has to be committed. It is always a
 * new handle, which the caller frees, even if it equals oldtype. newtype may point to the variable
 * that holds oldtype, or into an input array; to free oldtype later, keep a copy of its handle.
 * These are legal: counts and block lengths of 0; empty types; negative strides; displacements that
 * are negative, overlap or repeat; negative extents; any depth of nesting. An empty type is a type,
 * never UCD_TYPE__NULL. info holds hints; in this version no key affects a constructor.
 *
 * Bounds (MPI 5.1.6, 5.1.7): resized, subarray and darray set explicit bounds. If any type inside a
 * new type has explicit bounds, only the explicit ones determine the new bounds; blocks of 0
 * elements contribute none. Without explicit bounds, the extent of a non-empty type is rounded up
 * to the largest alignment (_Alignof) in its type map, whichever constructor made it; an empty type
 * has lb 0 and extent 0.
 *
 * Returns, every constructor: NOT_INITIALIZED; INVALID_ARG (Conventions, and what the function
 * names); OVERFLOW (size, bounds or true bounds do not fit INTPTR_MAX); OUT_OF_MEM; INTERNAL.
 */

/* count elements, one extent apart. MPI 5.1.2. */
UCD_API int ucd_create_contig(intptr_t count, ucd_type_t oldtype, ucd_info_t info,
                              ucd_type_t *newtype);

/* The same type map and bounds under a new handle. MPI 5.1.10. While the duplicate exists, no other
 * type gets the handle value of oldtype, even if oldtype is freed. So a cache that is keyed by type
 * handles keeps a duplicate with each entry. */
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

/* count blocks of blocklength elements; block i starts at byte indices[i] * unit. The indices are
 * read when data moves, not when the type is created: the type keeps their address. So a kernel can
 * write a table in device memory that says which pages of a cache move, and the host never reads
 * it. Not in MPI.
 *
 * Indices    index_type is one of the handles UCD_TYPE__INT32_T, UINT32_T, INT64_T, UINT64_T.
 *            indices[i] * unit is computed in 64 bits and wraps. indices is naturally aligned, in
 *            host, pinned, managed or device memory, and stays the caller's: it must be valid, and
 *            must not change, until the request completes, the stream has passed the call, or the
 *            graph is destroyed, even if the type is freed before. Between two replays of a graph
 *            it may change; the next replay then moves other data. In a stream, indices are read in
 *            stream order. If the type's size is 0, they are never read, and may be NULL.
 * Bounds     lb and lb + extent are explicit bounds as those of ucd_create_resized, and the true
 *            bounds too (0 and 0 if the size is 0); a later ucd_create_resized changes only the
 *            former. A block that an index places outside them is undefined behaviour, as a wrong
 *            pointer is.
 * Memory     UCD finds out which memory a buffer of such a type is in from address buf + true lb,
 *            which must lie in the buffer's allocation. One executor (the CPU or a device) that
 *            reaches data and indices moves the data. If there is none, the indices are copied to
 *            memory that one reaches first; calls with a request do not wait for that. In a stream
 *            the device must reach the indices: pageable host memory is NOT_SUPPORTED there.
 * Not for    ucd_iov*, ucd_get_boxes, ucd_flatten*, and ucd.engine=dma: NOT_SUPPORTED, also of
 *            types that are built on such a type. oldtype must not be, or be built on, such a type.
 *
 * Returns also: INVALID_ARG (index_type; indices is NULL though the size is not 0, or not aligned;
 * extent < 0); NOT_SUPPORTED (oldtype is, or is built on, a type of this constructor). */
UCD_API int ucd_create_indexed_block_ref(intptr_t count, intptr_t blocklength, const void *indices,
                                         ucd_type_t index_type, intptr_t unit, intptr_t lb,
                                         intptr_t extent, ucd_type_t oldtype, ucd_info_t info,
                                         ucd_type_t *newtype);

/* count blocks; block i has blocklengths[i] elements and starts at displs[i] extents. MPI 5.1.2. */
UCD_API int ucd_create_indexed(intptr_t count, const intptr_t *blocklengths, const intptr_t *displs,
                               ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* As ucd_create_indexed, but displs are in bytes. MPI 5.1.2. */
UCD_API int ucd_create_hindexed(intptr_t count, const intptr_t *blocklengths,
                                const intptr_t *displs, ucd_type_t oldtype, ucd_info_t info,
                                ucd_type_t *newtype);

/* count blocks; block i has blocklengths[i] elements of types[i] and starts at byte displs[i]. Each
 * types[i] must be a type, even if its block length is 0. MPI 5.1.2. */
UCD_API int ucd_create_struct(intptr_t count, const intptr_t *blocklengths, const intptr_t *displs,
                              const ucd_type_t *types, ucd_info_t info, ucd_type_t *newtype);

/* Part of an array with ndims >= 1 dimensions: in dimension i, subsizes[i] elements from starts[i]
 * on, of sizes[i] elements. The bounds are those of the whole array, with lb 0. The arguments that
 * are arrays have ndims entries; order is a UCD_ORDER__*. MPI 5.1.3.
 * Sizes of 0, which MPI does not allow, give an empty type with the bounds of the array.
 * INVALID_ARG also: ndims < 1; sizes[i] < 0; subsizes[i] < 0 or > sizes[i]; starts[i] < 0 or
 * > sizes[i] - subsizes[i]. */
UCD_API int ucd_create_subarray(int ndims, const intptr_t *sizes, const intptr_t *subsizes,
                                const intptr_t *starts, int order, ucd_type_t oldtype,
                                ucd_info_t info, ucd_type_t *newtype);

/* The elements of a global array (gsizes, ndims >= 1 dimensions) that belong to process rank, of
 * size processes in a row-major grid of psizes. For each dimension, distribs is a
 * UCD_DISTRIBUTE__* and dargs a block size or UCD_DISTRIBUTE__DFLT_DARG. The bounds are those of
 * the global array, with lb 0. A process that owns nothing gets an empty type. The arguments that
 * are arrays have ndims entries; order (of storage) is a UCD_ORDER__*. MPI 5.1.4. INVALID_ARG also:
 * ndims < 1; size < 1; rank outside 0 to size - 1; gsizes[i] < 0; psizes[i] < 1; the product of
 * psizes is not size; NONE with psizes[i] not 1; dargs[i] < 1 and not the default (dargs[i] is
 * ignored for NONE); BLOCK with dargs[i] * psizes[i] < gsizes[i]. */
UCD_API int ucd_create_darray(int size, int rank, int ndims, const intptr_t *gsizes,
                              const int *distribs, const intptr_t *dargs, const int *psizes,
                              int order, ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* An array as NumPy and DLPack describe it: the element of index (i0, i1, ...), 0 <= ik < shape[k],
 * is at byte i0 * byte_strides[0] + i1 * byte_strides[1] + ...; the last index varies fastest in
 * packed order. Strides may have any sign. A stride of 0 repeats the same element; use such a type
 * for packing only. ndims 0 is one element; a shape[k] of 0 gives an empty type. The bounds are
 * implicit, as those of nested hvectors. Not in MPI.
 * INVALID_ARG also: ndims < 0; shape[k] < 0. */
UCD_API int ucd_create_ndarray(int ndims, const intptr_t *shape, const intptr_t *byte_strides,
                               ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);

/* The same type map with explicit bounds lb and lb + extent, in bytes. MPI 5.1.7. */
UCD_API int ucd_create_resized(ucd_type_t oldtype, intptr_t lb, intptr_t extent, ucd_info_t info,
                               ucd_type_t *newtype);

/* Frees the caller's handle. Types that were built on it and requests that use it stay valid. May
 * be called after the last ucd_finalize. MPI 5.1.9.
 * Returns: NOT_INITIALIZED (before the first ucd_init only), INVALID_ARG (*type is predefined). */
UCD_API int ucd_free(ucd_type_t *type);

/* ---------------------------------------------------------------------------------------------- */
/* Asking about types                                                                             */
/* ---------------------------------------------------------------------------------------------- */

/* The number of packed bytes of one element of the type. MPI 5.1.5 (MPI_Type_size).
 * Returns: NOT_INITIALIZED, INVALID_ARG. */
UCD_API int ucd_get_size(ucd_type_t type, uintptr_t *size);

/* Lower bound and extent in bytes. In an array, elements are one extent apart. MPI 5.1.7.
 * Returns: NOT_INITIALIZED, INVALID_ARG. */
UCD_API int ucd_get_extent(ucd_type_t type, intptr_t *lb, intptr_t *extent);

/* True bounds: the lowest byte that the type touches, and the distance from there to the end of the
 * highest. Explicit bounds have no influence. An empty type has 0 and 0. MPI 5.1.8.
 * Returns: NOT_INITIALIZED, INVALID_ARG. */
UCD_API int ucd_get_true_extent(ucd_type_t type, intptr_t *lb, intptr_t *extent);

/*
 * What count elements of a type look like in memory. Segments are those of ucd_iov. Sizes and
 * offsets are in bytes.
 *
 * The box describes regular layouts in the form that cudaMemcpy2D/3D, a strided RDMA work request
 * or a DMA engine needs: the data is blocks of box_block bytes, and block (i0, i1, ...), 0 <= ik <
 * box_count[k], lies at buf + box_start + i0 * box_stride[0] + i1 * box_stride[1] + ...; the last
 * index varies fastest in packed order. A contiguous layout has box_dims 1, box_count[0] 1 and
 * box_stride[0] = box_block. Entries from box_dims on are 0; if box_dims is 0, so are all members
 * of the box.
 *
 * Of a type of ucd_create_indexed_block_ref, or one that is built on such a type, flags has
 * UCD_LAYOUT__BY_REFERENCE, low and high follow from the true bounds, and segments, the lengths of
 * segments and the box are not known.
 */
typedef struct {
    uint32_t struct_size; /* see Conventions */
    uint32_t contiguous;  /* 1: at most one segment; else 0 */
    uint32_t box_dims;    /* 1 to 4; 0: empty, or not a regular box */
    uint32_t flags;       /* UCD_LAYOUT__*, or 0 */
    uint64_t bytes;       /* packed size */
    uint64_t segments;    /* number of segments */
    uint64_t min_segment; /* bytes of the shortest segment and of the longest; 0 if there is none */
    uint64_t max_segment;
    int64_t low;        /* all touched bytes lie in [buf + low, buf + high), for bounds checks; */
    int64_t high;       /* 0 and 0 if there are none */
    ucd_type_t element; /* the predefined type of all elements; UCD_TYPE__NULL if they differ */
    int64_t box_start;
    int64_t box_stride[4]; /* outermost first */
    uint64_t box_block;
    uint64_t box_count[4]; /* outermost first */
} ucd_layout_t;

/* ucd_layout_t.flags: displacements are read when data moves. contiguous, segments and box_dims are
 * 0 then. */
enum { UCD_LAYOUT__BY_REFERENCE = 1 };

/* Fills in *layout, whose struct_size the caller has set. Accesses no data.
 * Returns: NOT_INITIALIZED, INVALID_ARG, OVERFLOW, OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_get_layout(uintptr_t count, ucd_type_t type, ucd_layout_t *layout);

/* How to send count elements of a type: the forms that ucd_advice_t.form may have. */
enum {
    UCD_FORM__CONTIG = 0, /* as it is: nothing, or one segment */
    UCD_FORM__IOV,        /* as a list of its segments: ucd_iov */
    UCD_FORM__BOXES,      /* as one strided box, by a copy engine or a strided work request:
                             ucd_get_boxes; packed where there is neither */
    UCD_FORM__PACK        /* packed */
};

typedef struct {
    uint32_t struct_size;  /* see Conventions */
    uint32_t form;         /* UCD_FORM__* */
    uint64_t segments;     /* entries that ucd_iov has */
    uint64_t boxes;        /* entries that ucd_get_boxes has */
    uint64_t bytes;        /* packed size */
    uint64_t mean_segment; /* bytes / segments, rounded down; 0 if there are no segments */
} ucd_advice_t;

/* Fills in *advice, whose struct_size the caller has set, with how (count, type) is best sent, from
 * its layout alone. The first of these that holds decides:
 *
 *   PACK    displacements are read when data moves (UCD_LAYOUT__BY_REFERENCE); segments, boxes and
 *           mean_segment are 0 then
 *   CONTIG  there are no bytes, or one segment
 *   IOV     there are at most max_entries segments, of min_segment bytes or more on average
 *   BOXES   the layout is rows of 64 bytes or more at one stride, or planes of such rows
 *   PACK    otherwise
 *
 * min_segment (bytes) is the length from which on a segment is worth an entry of its own; 0 stands
 * for 1024. max_entries is how many entries one operation takes; 0 stands for 1024, the IOV_MAX of
 * Linux. The line "advice" of ucd_describe says in words what this function returns for count 1,
 * min_segment 0 and max_entries 0; ucd_ucx_prepare uses this function with limits of its own.
 * Accesses no data. To count boxes, the first call for a type takes time in proportion to its
 * lists; they are not counted if struct_size ends before that member. Not in MPI.
 * Returns: NOT_INITIALIZED; INVALID_ARG (type; advice is NULL; struct_size); OVERFLOW (count times
 * type); OUT_OF_MEM; INTERNAL. */
UCD_API int ucd_get_advice(uintptr_t count, ucd_type_t type, uintptr_t min_segment,
                           uintptr_t max_entries, ucd_advice_t *advice);

/* Writes the kind of memory of the first byte that (count, type) touches at buf to the string
 * memory, in the form of ucd.inbuf and ucd.outbuf: host, pinned, managed, or a backend's name, a
 * colon and the device's number; host if no byte is touched. 32 bytes always suffice (Lengths). Of
 * the hints only ucd.gpu has an effect. Initialises no GPU driver. Not in MPI.
 * Returns: NOT_INITIALIZED, INVALID_ARG, OVERFLOW, TRUNCATED, OUT_OF_MEM, DEVICE (a driver fails,
 * and the host cannot read the byte), INTERNAL. */
UCD_API int ucd_get_memory(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                           char *memory, uintptr_t memory_size, uintptr_t *needed);

/* Describes a type as text (see Lengths): how it was built, the normalised layout that the
 * kernels get, and what follows from that, in lines of the form "key: value". The keys below are
 * stable; later versions may add keys, and may change the wording of values that are not numbers.
 *
 *   type             the tree as built, a line for each type, indented by its depth
 *   size, lb, extent, true_lb, true_extent, alignment: in bytes
 *   explicit_bounds  yes or no
 *   step             a line for each constructor, innermost first: the layout up to there, and the
 *                      rewrites that simplified it
 *   layout           the normalised layout
 *   indices          of ucd_create_indexed_block_ref, a line for each list: how many indices,
 *                      and where they lie
 *   segments         number of segments; 0 if indices are read when data moves
 *   kernel           two lines for each backend (for a count of one, and for larger counts): the
 *                      kernel and why it was chosen; or one line: why it is not available
 *   advice           how to send one element of the type, by ucd_get_advice, and the reason: none
 *                      (CONTIG), iov, dma (BOXES) or pack
 *   flattened        number of bytes that ucd_flatten writes; 0 if it cannot
 *   memory           bytes of host memory that the type occupies now: the tree as built, lists,
 *                      layout, and what is prepared for kernels
 *
 * Long lists, deep trees, many nodes and many steps are shortened by "...". A part of a layout that
 * occurs several times is written once with a number, which then stands for it:
 * [@0 #1: ..., @900 #1].
 * Returns: NOT_INITIALIZED, INVALID_ARG, TRUNCATED, OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_describe(ucd_type_t type, char *text, uintptr_t text_size, uintptr_t *needed);

/* ---------------------------------------------------------------------------------------------- */
/* Moving data                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Rules for every function that moves data.
 *
 * Stream     The packed stream of (count, type) is the elements of the type map, count times, in
 *            order and without gaps (MPI 5.1, 5.2). UCD adds no header, and converts nothing except
 *            with CONVERT. An offset skips bytes of the stream; the cost of skipping does not grow
 *            with the offset. A pack moves min(max_pack_bytes, total - offset) bytes, an unpack
 *            min(insize, total - offset), and actual_* has that number when the call returns. With
 *            an offset at the end it moves 0 bytes; an offset beyond the end is INVALID_ARG.
 * Fragments  With REPLACE, a stream may be moved in pieces of any offset and length, in any order
 *            and by any thread. With another op, an offset that is not an element boundary is
 *            INVALID_ARG, and the length is rounded down to whole elements; if elements remain but
 *            not even one fits, the call is TRUNCATED. An element is one of a predefined type; of a
 *            pair type, the whole pair.
 * Op         See ucd_op_t: out = out op in. NOT_SUPPORTED if the type does not support it; the
 *            message names op and type.
 * Memory     Buffers may be pageable or pinned host memory, device, managed or peer-mapped memory,
 *            in any combination and at any alignment, as far as backends are available. UCD finds
 *            out the kind of memory from the first byte that the type touches; all bytes of one
 *            buffer must be of the same kind and device. There is one exception: at a NULL buffer
 *            for which no hint says where it is, the members of the outermost ucd_create_struct,
 *            ucd_create_hindexed or ucd_create_hindexed_block (below dup and resized) may be in
 *            different kinds of memory, which UCD finds out from each member's first byte. A call
 *            in a stream then needs all of them to be where the stream's device reaches them, else
 *            it is INVALID_ARG. A call initialises a GPU driver only if a buffer, hint or stream
 *            requires it. While the process has initialised no GPU driver, UCD takes all memory for
 *            host memory.
 * Stores     UCD stores no byte outside the range, not even with its old value. So threads may
 *            write neighbouring fragments at the same time. Loads may include untouched bytes, but
 *            only between the first and the last touched byte, and only in aligned 64-byte lines
 *            that hold a touched byte.
 * Aliasing   The input range and the output range of one move must not overlap. Where elements of
 *            the output overlap each other, it is unspecified which of their values each byte gets;
 *            the result of a reduction is unspecified there.
 * Hints      ucd.gpu, ucd.inbuf, ucd.outbuf, ucd.peers, ucd.engine, ucd.max_blocks, ucd.threads.
 * Order      A call does not wait for any stream: what other streams do with the buffers must be
 *            complete before it. Calls that are outstanding at the same time are not ordered, nor
 *            are the members of a list.
 *
 * Returns, every one: NOT_INITIALIZED; INVALID_ARG (Conventions, and the above; a buffer in device
 * memory of a Level Zero context that UCD does not work in); OVERFLOW (count times type);
 * NOT_SUPPORTED (op and type; a hint names a backend that is not available, a device that it does
 * not have, or an engine that cannot do it); TRUNCATED (above); OUT_OF_MEM; DEVICE; INTERNAL.
 *
 * Requests. A function with a request argument sets *request to UCD_REQUEST__NULL if the work is
 * complete on return, and to a request otherwise; the old value of *request is ignored. Until
 * ucd_test, ucd_wait or ucd_waitall resets the request to UCD_REQUEST__NULL, the caller must not
 * change the input, nor read or write the output. Type, info and moves may be freed at once.
 * Such a function never waits for a device: work from host memory to host memory is done inside the
 * call, and work for which no staging buffer of the library is free is queued. ucd_test and
 * ucd_wait make progress on all queued work, whichever request they are called with, so a wait
 * never depends on another thread.
 */

/* Packs the bytes of the stream of (incount, type) at inbuf, from inoffset on, into outbuf, which
 * has max_pack_bytes bytes. May return before the work is complete: see Requests. */
UCD_API int ucd_ipack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
                      void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                      ucd_info_t info, ucd_op_t op, ucd_request_t *request);

/* Unpacks the insize bytes at inbuf into the stream of (outcount, type) at outbuf, from byte
 * outoffset of that stream on. If the stream ends before the input, the rest of the input is not
 * read, which is no failure; if the input ends first, the rest of the buffer stays as it is.
 * *actual_unpack_bytes tells both. May return before the work is complete: see Requests. */
UCD_API int ucd_iunpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                        ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                        ucd_info_t info, ucd_op_t op, ucd_request_t *request);

/* As ucd_ipack, but waits until the work is complete. MPI 5.2 (MPI_Pack). */
UCD_API int ucd_pack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
                     void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                     ucd_info_t info, ucd_op_t op);

/* As ucd_iunpack, but waits until the work is complete. As there, and unlike in MPI, an input that
 * is shorter than the stream is no failure. MPI 5.2 (MPI_Unpack). */
UCD_API int ucd_unpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                       ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                       ucd_info_t info, ucd_op_t op);

/* Moves the whole stream of (incount, intype) at inbuf to (outcount, outtype) at outbuf. The result
 * is that of packing and then unpacking, without a packed buffer. If the output's stream is longer,
 * only its first bytes are written. REPLACE compares no element types; any other op but the
 * conversions requires both sides to have the same sequence of elements, up to the end of the
 * input. *actual_bytes is how many bytes of the output's packed stream are written. May return
 * before the work is complete: see Requests. Matching: MPI 3.3.1; reductions: MPI 12.3.4.
 * Returns also: TRUNCATED (the output's stream is shorter; nothing moves); INVALID_ARG (the element
 * sequences differ, and op is not REPLACE or a conversion). */
UCD_API int ucd_icopy(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
                      uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes,
                      ucd_info_t info, ucd_op_t op, ucd_request_t *request);

/* As ucd_icopy, but waits until the work is complete. */
UCD_API int ucd_copy(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
                     uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes,
                     ucd_info_t info, ucd_op_t op);

/* Makes progress. If the request is complete, sets *completed to 1 and *request to
 * UCD_REQUEST__NULL; else sets *completed to 0. Does not wait. UCD_REQUEST__NULL is complete.
 * Returns: NOT_INITIALIZED (before the first ucd_init only); INVALID_ARG; or the failure of the
 * work, with *completed 1 and the request reset: OUT_OF_MEM, DEVICE, INTERNAL. */
UCD_API int ucd_test(ucd_request_t *request, int *completed);

/* Waits until the request is complete and resets it. UCD_REQUEST__NULL is complete.
 * Returns: as ucd_test. */
UCD_API int ucd_wait(ucd_request_t *request);

/* Waits for all count requests and resets each of them, even if some fail. Entries may be
 * UCD_REQUEST__NULL.
 * Returns: NOT_INITIALIZED (before the first ucd_init only); INVALID_ARG; or the failure of the
 * first request in the array that failed, as ucd_wait. */
UCD_API int ucd_waitall(uintptr_t count, ucd_request_t *requests);

/*
 * One movement of data, from an input to an output. A side with a type is a noncontiguous buffer:
 * count elements of the type. A side whose type is UCD_TYPE__NULL is a packed buffer: count is its
 * size in bytes. So a move is
 *
 *   intype        outtype       what it does
 *   a type        NULL          packs, as ucd_ipack
 *   NULL          a type        unpacks, as ucd_iunpack
 *   a type        a type        copies from layout to layout, as ucd_icopy, but any range of it
 *   NULL          NULL          copies consecutive bytes; with REPLACE only
 *
 * Offsets skip bytes of a side's packed stream; that of a packed side must be 0. The cost of
 * skipping does not grow with the offset. A move has min(bytes, rest of the input after inoffset,
 * rest of the output after outoffset) bytes; with an op other than REPLACE, that is rounded down to
 * whole elements. A buffer of which nothing is moved may be NULL.
 */
typedef struct {
    const void *inbuf;
    uintptr_t incount;
    ucd_type_t intype;
    uintptr_t inoffset;
    void *outbuf;
    uintptr_t outcount;
    ucd_type_t outtype;
    uintptr_t outoffset;
    /* At most, of the input. UINTPTR_MAX: all that both sides have. 0: nothing, with REPLACE; with
     * another op TRUNCATED, if both sides have elements left. */
    uintptr_t bytes;
    /* Set on return: how many bytes of the output's packed stream are written, and how many of the
     * input's are read. They differ only in conversions. */
    uintptr_t actual_bytes, consumed_bytes;
    uint64_t reserved[4]; /* zero */
} ucd_move_t;

/* Initialises a ucd_move_t: NULL buffers, counts of 0, no types, and no limit of bytes. */
/* clang-format off */
#define UCD_MOVE__INIT \
    {NULL, 0, UCD_TYPE__NULL, 0, NULL, 0, UCD_TYPE__NULL, 0, UINTPTR_MAX, 0, 0, {0, 0, 0, 0}}
/* clang-format on */

/* Starts count moves, of any kinds, with one info, one op and one request for all. All of them are
 * checked first: if one is wrong, none starts, no output is set, and the message gives its index.
 * actual_bytes and consumed_bytes of each are set when the call returns. moves may be freed on
 * return. They are not ordered: no output may overlap another output or any input. May return
 * before the work is complete: see Requests. With an op other than REPLACE, both offsets are
 * element boundaries; unless the op is a conversion, the two types have equal sequences of elements
 * in what is moved (MPI 12.3.4, MPI_Accumulate). INVALID_ARG also: moves is NULL and count is not
 * 0; reserved is not zero; a packed side has an offset, or is NULL though bytes are moved; two
 * packed sides with another op than REPLACE; the elements differ. TRUNCATED: the op is not REPLACE,
 * and although both sides have elements left, not one fits. */
UCD_API int ucd_imove(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op,
                      ucd_request_t *request);

/* As ucd_imove, but waits until the work is complete. */
UCD_API int ucd_move(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op);

/* ---------------------------------------------------------------------------------------------- */
/* Moving data in a native stream                                                                 */
/* ---------------------------------------------------------------------------------------------- */

/*
 * These functions enqueue the work into a stream of the caller and return without waiting. The work
 * is ordered with the other work in that stream, and with nothing else. The stream's device must be
 * able to access both buffers, and they are used in stream order. Type, info and moves may be
 * freed on return; actual_* is set on return. If the work itself fails, the vendor's functions for
 * the stream report it.
 *
 * A call can be captured into a CUDA or HIP graph after ucd_prepare for each of its types and its
 * op. The types must live as long as the graph. share/doc/ucd/guide/gpu.md has this as a table.
 *
 * For Level Zero, native is an immediate command list of the context that UCD works in; the first
 * stream of a driver's devices may name that context. UCD puts a barrier before its work and after
 * it. A regular command list may record calls for layouts without lists of displacements (vectors,
 * subarrays and the like); anything else is undefined behaviour there.
 *
 * With stream.device -1, UCD asks the driver which device native belongs to. For NULL and the other
 * default streams that is the calling thread's current device.
 *
 * Returns, besides those of Moving data: NOT_SUPPORTED (the stream's backend is not available, or
 * does not have the device; a call that is not prepared is captured); INVALID_ARG (stream.backend
 * is NULL; native is NULL where the backend needs one; context is not the one in use;
 * stream.device is -1 and the backend cannot tell).
 */
typedef struct {
    const char *backend; /* "cuda", "hip", "ze" */
    int device;          /* as the backend counts them; -1: the device of native, see above */
    void *native;        /* cudaStream_t, hipStream_t, ze_command_list_handle_t */
    void *context;       /* of ze: a ze_context_handle_t, or NULL for the one in use */
    uint64_t reserved;
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

/* ucd_copy in stream order. */
UCD_API int ucd_copy_stream(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
                            uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes,
                            ucd_info_t info, ucd_op_t op, ucd_stream_t stream);

/* ucd_imove in stream order. */
UCD_API int ucd_move_stream(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op,
                            ucd_stream_t stream);

/* Does all one-time work for (count, type) and op on the stream's device, which the first use would
 * do otherwise: chooses and loads kernels, and uploads tables, which stay as long as the type.
 * Moves no data. May wait for the device.
 * Returns: as the other functions with a stream, but not TRUNCATED. */
UCD_API int ucd_prepare(uintptr_t count, ucd_type_t type, ucd_op_t op, ucd_stream_t stream,
                        ucd_info_t info);

/* ---------------------------------------------------------------------------------------------- */
/* Plans: repeated moves                                                                          */
/* ---------------------------------------------------------------------------------------------- */

/*
 * A plan is a list of moves that is checked and prepared once: UCD knows who moves what, and has
 * kernels and tables ready, so that a start costs little more than the kernel launch. It is like a
 * plan of FFTW or cuFFT, and like a persistent request of MPI (MPI 3.9, MPI_Send_init). UCD does
 * not guess which calls will be repeated: without a plan, each call is prepared anew.
 *
 * One plan is used by one thread at a time, except by ucd_plan_start_with and
 * ucd_plan_start_with_stream. A start has ended when its request is completed (or when
 * ucd_plan_start has set the request to UCD_REQUEST__NULL). Until then, another start with the
 * plan's buffers and ucd_plan_rebase are INVALID_ARG. Starts in streams are in stream order, and
 * the caller makes sure that two of them do not overlap; ucd_plan_rebase does not wait for them,
 * and they still use the old addresses. After the last ucd_finalize, a plan can only be freed:
 * anything else is NOT_INITIALIZED, and INVALID_ARG after another ucd_init.
 */

/* Makes a plan of count moves, with one info and one op for all, and sets actual_bytes and
 * consumed_bytes of each; all starts move these numbers of bytes. Accesses no data; may wait for a
 * device. The caller may change or free moves, types and info when it returns. The buffers are used
 * at each start, and must then be in the same kind of memory of the same device. Indices of
 * ucd_create_indexed_block_ref are read at each start. The caller frees the plan.
 * Returns: as ucd_imove, in the same cases; INVALID_ARG also: plan is NULL. */
UCD_API int ucd_plan_create(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op,
                            ucd_plan_t *plan);

/* Moves the data, as ucd_imove would with the plan's moves. Never waits for a device; staging
 * buffers are taken at each start. May return before the work is complete: see Requests.
 * Returns: NOT_INITIALIZED; INVALID_ARG (plan or request is NULL; a start has not ended; the plan
 * is from before the last ucd_finalize); OUT_OF_MEM; DEVICE; NOT_SUPPORTED (indices are where
 * nothing reaches them); INTERNAL. */
UCD_API int ucd_plan_start(ucd_plan_t plan, ucd_request_t *request);

/* The same in stream order, as ucd_move_stream. The first start on a device may make kernels and
 * tables ready for it, if ucd_plan_create did not: start it once before capturing. A start may be
 * captured into a CUDA or HIP graph, which keeps what it needs of the plan, and the addresses at
 * the time of capture: the plan may be rebased or freed before the graph is launched. Data, and
 * indices of ucd_create_indexed_block_ref, are read when the graph runs. If the driver does not
 * tell that a graph was destroyed, what the graph needs is kept until the last ucd_finalize.
 * Returns: as ucd_move_stream; INVALID_ARG also: plan is NULL; a start by ucd_plan_start has not
 * ended; the plan is from before the last ucd_finalize. */
UCD_API int ucd_plan_start_stream(ucd_plan_t plan, ucd_stream_t stream);

/* As ucd_plan_start, but this start alone has other buffers: move i gets inbufs[i] and outbufs[i].
 * Both arrays have an entry for each move of the plan, and are not read after the return; if one is
 * NULL, that side has the plan's buffers; an entry may be NULL where the buffer of a move may. The
 * plan stays as it is. Several threads may make such starts at once, and several may be
 * outstanding, of the same plan; a start by ucd_plan_start may be outstanding, too. A buffer must
 * be in the same kind of memory as the plan's, which UCD checks unless a hint names it; alignment
 * may differ. On a device, a start of several moves makes and uploads a table, as ucd_imove does.
 * Returns: as ucd_plan_start, whose start may be outstanding; as ucd_plan_rebase for the buffers;
 * INVALID_ARG also: another thread is in ucd_plan_rebase; NOT_SUPPORTED also: a move of the plan is
 * in several memories. Like fftw_execute_dft. */
UCD_API int ucd_plan_start_with(ucd_plan_t plan, const void *const *inbufs, void *const *outbufs,
                                ucd_request_t *request);

/* The same in stream order, as ucd_plan_start_stream; it is outstanding only during the call. A
 * graph keeps what it needs of the plan, and the addresses that the captured start was given.
 * Returns: as both. */
UCD_API int ucd_plan_start_with_stream(ucd_plan_t plan, const void *const *inbufs,
                                       void *const *outbufs, ucd_stream_t stream);

/* Gives count of the plan's moves, from number first on, new buffers: move first + i gets inbufs[i]
 * and outbufs[i]. If one of the two arrays is NULL, that side stays as it is; an entry may be NULL
 * where the buffer of a move may. Everything else stays. A new buffer must be in the same kind of
 * memory as the old one, which UCD checks unless a hint names it; alignment may differ. If it
 * fails, the plan is as it was. Accesses no data; may wait for a device, but for no stream of the
 * caller.
 * Returns: NOT_INITIALIZED; INVALID_ARG (plan is NULL; first + count is beyond the plan's moves; a
 * start has not ended; a packed buffer is NULL though bytes are moved; a buffer is in another kind
 * of memory, or of another device, than the one it replaces; the plan is from before the last
 * ucd_finalize); OUT_OF_MEM; DEVICE; NOT_SUPPORTED; INTERNAL. */
UCD_API int ucd_plan_rebase(ucd_plan_t plan, uintptr_t first, uintptr_t count,
                            const void *const *inbufs, void *const *outbufs);

/* Frees the plan. Starts that have not ended continue: what they need is freed when they end. May
 * be called after the last ucd_finalize.
 * Returns: NOT_INITIALIZED (before the first ucd_init only); INVALID_ARG. */
UCD_API int ucd_plan_free(ucd_plan_t *plan);

/* ---------------------------------------------------------------------------------------------- */
/* I/O vectors                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Segments are the contiguous pieces of (count, type), in packed order. Pieces that are adjacent in
 * packed order and in memory are one segment. No segment is empty. The cost of skipping segments
 * does not grow with their number. buf is used for address arithmetic only: it may be in any kind
 * of memory, and no data is accessed.
 *
 * Returns, every one: NOT_INITIALIZED; INVALID_ARG (Conventions; an offset beyond the end);
 * OVERFLOW (count times type); NOT_SUPPORTED (indices that are read when data moves:
 * ucd_create_indexed_block_ref); OUT_OF_MEM; INTERNAL. Not in MPI.
 */

/* The number of segments, which is exactly the number that ucd_iov can write in total. */
UCD_API int ucd_iov_len(uintptr_t count, ucd_type_t type, uintptr_t *iov_len);

/* Sets *iov_len to the largest number of whole segments, from the first on, that have at most
 * max_iov_bytes bytes together, and *actual_iov_bytes to that number of bytes. */
UCD_API int ucd_iov_len_max(uintptr_t count, ucd_type_t type, uintptr_t max_iov_bytes,
                            uintptr_t *iov_len, uintptr_t *actual_iov_bytes);

/* Writes up to max_iov_len segments to iov, from segment number iov_offset on, and sets
 * *actual_iov_len to how many it wrote: 0 at the end. */
UCD_API int ucd_iov(const void *buf, uintptr_t count, ucd_type_t type, uintptr_t iov_offset,
                    struct iovec *iov, uintptr_t max_iov_len, uintptr_t *actual_iov_len);

/* Writes the segments of bytes [offset, offset + max_bytes) of the packed stream to iov: as many
 * bytes as the stream has there, and at most max_iov_len entries. The first and the last segment
 * may be partial. *actual_iov_len is the number of entries written, *actual_bytes their bytes. */
UCD_API int ucd_iov_bytes(const void *buf, uintptr_t count, ucd_type_t type, uintptr_t offset,
                          uintptr_t max_bytes, struct iovec *iov, uintptr_t max_iov_len,
                          uintptr_t *actual_iov_len, uintptr_t *actual_bytes);

/* ---------------------------------------------------------------------------------------------- */
/* Boxes and elements                                                                             */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Returns, every one: NOT_INITIALIZED; INVALID_ARG (Conventions; a first entry, an offset or bytes
 * beyond the end); OVERFLOW (count times type); OUT_OF_MEM; INTERNAL. No data is accessed. The
 * first call for a type takes time in proportion to its lists; after that, the cost of skipping
 * entries does not grow with their number. Not in MPI.
 */

/*
 * A box: blocks of block bytes. Block (i0, i1, ...), 0 <= ik < count[k], lies at buf + start
 * + i0 * stride[0] + i1 * stride[1] + ...; the last index varies fastest in packed order. That is
 * what a copy engine, a strided RDMA work request or an entry of a descriptor list takes.
 * Consecutive bytes have dims 1, count[0] 1 and stride[0] = block. Entries from dims on are 0.
 * Strides may be 0 or negative, and blocks may overlap, as they may in the type.
 */
typedef struct {
    int64_t start;     /* displacement of the first byte, in bytes */
    uint64_t block;    /* bytes */
    uint64_t offset;   /* of the first byte in the packed stream */
    uint64_t count[4]; /* outermost first */
    int64_t stride[4]; /* bytes, outermost first */
    uint32_t dims;     /* 1 to 4 */
    uint32_t reserved;
} ucd_box_t;

/* Writes up to max_boxes boxes to boxes, from box number first_box on, and sets *actual_boxes to
 * how many it wrote and *total_boxes to how many there are. The boxes of (count, type) make up its
 * packed stream, in order: each begins where the one before ends. A box has the four innermost
 * strided levels of the normalised layout (ucd_describe); of further levels, each repetition is a
 * box of its own. Of a list, each sequence of equal entries at equal distances is one box, taken
 * greedily from the first entry on. Boxes of different lists or repetitions are not joined further.
 * first_box = *total_boxes gives 0 boxes. The box of ucd_get_layout is the only one here. */
UCD_API int ucd_get_boxes(uintptr_t count, ucd_type_t type, uintptr_t first_box, ucd_box_t *boxes,
                          uintptr_t max_boxes, uintptr_t *actual_boxes, uintptr_t *total_boxes);

/* Sets *elements to how many whole predefined elements are in the first bytes bytes of the packed
 * stream of (count, type), where a pair's parts are two elements. The first call, too, takes time
 * in proportion to the type's depth only. MPI 5.1.11 (MPI_Get_elements). */
UCD_API int ucd_get_elements(uintptr_t count, ucd_type_t type, uintptr_t bytes,
                             uintptr_t *elements);

/* Sets *boundary to the last byte offset in the packed stream of (count, type), at most offset, at
 * which an element begins, or the stream ends. A pair type's pair is one element. */
UCD_API int ucd_element_boundary(uintptr_t count, ucd_type_t type, uintptr_t offset,
                                 uintptr_t *boundary);

/* A run: consecutive elements of one predefined type in a packed stream. */
typedef struct {
    ucd_type_t element;     /* UCD_TYPE__NULL: this machine has no type of that representation */
    uint64_t element_bytes; /* packed bytes of one */
    uint64_t elements;      /* how many */
    uint64_t offset;        /* of the first byte in the packed stream */
    uint64_t reserved;
} ucd_element_run_t;

/* Writes up to max_runs runs of the packed stream of (count, type) to runs, from run number
 * first_run on, and sets *actual_runs to how many it wrote and *total_runs to how many there are.
 * Runs are as long as can be, across repetitions too, but different handles are different types:
 * LONG is not INT64_T. A type from ucd_unflatten has only fixed-width handles: what was LONG is
 * INT64_T. first_run = *total_runs gives 0 runs. */
UCD_API int ucd_get_element_runs(uintptr_t count, ucd_type_t type, uintptr_t first_run,
                                 ucd_element_run_t *runs, uintptr_t max_runs,
                                 uintptr_t *actual_runs, uintptr_t *total_runs);

/* ---------------------------------------------------------------------------------------------- */
/* Flattening                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

/*
 * A type as bytes, to be sent to another process. The bytes are position independent, little
 * endian, versioned and have a checksum; the same type always gives the same bytes. The format is
 * in share/doc/ucd/reference/flatten-format.md. Buffers are host memory and need no alignment.
 * Bounds and alignment are included: the reader's layout is the writer's, even if their C types
 * differ. Data is not converted. Absolute displacements are kept.
 */

/* The number of bytes that ucd_flatten writes for this type. flatten-format.md says how it grows
 * with lists.
 * Returns: NOT_INITIALIZED, INVALID_ARG, OVERFLOW, NOT_SUPPORTED (ucd_create_indexed_block_ref),
 * OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_flatten_size(ucd_type_t type, uintptr_t *size);

/* Sets *size to the length in bytes that a flattened type contains. Reads its first 16 bytes and
 * no others; available is the number of bytes at flattened. For receivers of streams: nothing is
 * verified, so compare the number with what was received, or with a limit, before using it.
 * Returns: NOT_INITIALIZED; INVALID_ARG (size is NULL; flattened is NULL though available is not
 * 0); TRUNCATED (available < 16); CORRUPT (no flattened type begins so); NOT_SUPPORTED (a newer
 * version of the format); INTERNAL. */
UCD_API int ucd_flattened_size(const void *flattened, uintptr_t available, uintptr_t *size);

/* Writes the type to flattened, which has flattened_size bytes. Bytes beyond ucd_flatten_size are
 * not written. Predefined types can be flattened too.
 * Returns: NOT_INITIALIZED; INVALID_ARG; TRUNCATED (flattened_size is too small, 0 included);
 * OVERFLOW; NOT_SUPPORTED (ucd_create_indexed_block_ref); OUT_OF_MEM; INTERNAL. */
UCD_API int ucd_flatten(ucd_type_t type, void *flattened, uintptr_t flattened_size);

/* Creates a type from the bytes that ucd_flatten wrote, all of them and no others. The result is a
 * new handle, which the caller frees. Size, bounds, packed stream and speed are those of the
 * original, also of types that are built on it. The bytes need not be trusted: any input gives a
 * valid type or an error, in time and memory linear in flattened_size. For that, what is prepared
 * for moving such a type, and types built on it, may take at most 64 KiB + 16 times its flattened
 * size. A type that would need more moves the same data, but may be slower than the original.
 * Elements of a representation that this machine does not have can be moved with REPLACE;
 * reductions of them are NOT_SUPPORTED.
 * Returns: NOT_INITIALIZED; INVALID_ARG (newtype is NULL; flattened is NULL though flattened_size
 * is not 0); CORRUPT (the bytes are not exactly one flattened type); NOT_SUPPORTED (a newer version
 * of the format); OUT_OF_MEM; INTERNAL. */
UCD_API int ucd_unflatten(ucd_type_t *newtype, const void *flattened, uintptr_t flattened_size);

#ifdef __cplusplus
}
#endif

#endif /* UCD_H_INCLUDED */
