/*
 * yaksa.h - the interface of yaksa 0.4, provided by UCD (libucd-yaksa).
 *
 * For MPI libraries and other programs that were written for yaksa: they compile against this
 * header and link libucd-yaksa instead, without a change. Names, arguments and constants are
 * yaksa's. What differs in behaviour, and how to build MPICH with it, is in
 * share/doc/ucd/guide/yaksa.md. New programs use ucd.h, which can do more.
 *
 * Conventions
 *
 * Statuses    Functions return YAKSA_SUCCESS or a YAKSA_ERR__* code. OUT_OF_MEM: an allocation
 *             failed, or a table of handles is full. NOT_SUPPORTED: the type does not support the
 *             op, or this machine or library cannot do what is asked. INTERNAL: anything else,
 *             mostly invalid arguments. ucd_yaksa_last_error returns the reason. A call that fails
 *             before data moves changes nothing. No C++ exception crosses this interface.
 * Order       yaksa_init comes before all functions except yaksa_info_*.
 * Null rules  A noncontiguous buffer may be NULL: displacements may be absolute addresses. A packed
 *             buffer may be NULL if 0 bytes move, an array if it has 0 entries. info may be NULL.
 *             A pointer to an output may not.
 * Handles     Types and requests are numbers. A handle that was freed or never returned is an
 *             error. No handle may be freed while another thread uses it.
 * Units       Counts, block lengths and strides are elements (extents of oldtype); displacements
 *             and strides of functions with an h in the name, sizes and offsets are bytes.
 * Memory      Buffers are host or device memory, in any combination, as in ucd.h. Arrays and
 *             flattened types are host memory.
 * Threads     Any thread may call any function at any time. A request, and an info that is being
 *             changed, belong to one thread at a time. No other call runs during the last
 *             yaksa_finalize.
 * Blocking    Functions work in the calling thread and do not block, unless their comment says
 *             otherwise.
 */
#ifndef YAKSA_H_INCLUDED
#define YAKSA_H_INCLUDED

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef UCD_PREFIX
#include <ucd_prefix.h>
#endif

/* As UCD_API in ucd.h. */
#if !defined(__GNUC__) && !defined(__clang__)
#define UCD_YAKSA_API
#elif defined(UCD_YAKSA_HIDDEN)
#define UCD_YAKSA_API __attribute__((visibility("hidden")))
#else
#define UCD_YAKSA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- */
/* Constants                                                                                      */
/* ---------------------------------------------------------------------------------------------- */

/* clang-format off */

/* The result is out = out op in, element by element. LAST is not an op but the number of ops. */
typedef uint64_t yaksa_op_t;
#define YAKSA_OP__MAX                     ((yaksa_op_t) 0)
#define YAKSA_OP__MIN                     ((yaksa_op_t) 1)
#define YAKSA_OP__SUM                     ((yaksa_op_t) 2)
#define YAKSA_OP__PROD                    ((yaksa_op_t) 3)
#define YAKSA_OP__LAND                    ((yaksa_op_t) 4)
#define YAKSA_OP__BAND                    ((yaksa_op_t) 5)
#define YAKSA_OP__LOR                     ((yaksa_op_t) 6)
#define YAKSA_OP__BOR                     ((yaksa_op_t) 7)
#define YAKSA_OP__LXOR                    ((yaksa_op_t) 8)
#define YAKSA_OP__BXOR                    ((yaksa_op_t) 9)
#define YAKSA_OP__REPLACE                 ((yaksa_op_t) 10)
#define YAKSA_OP__LAST                    ((yaksa_op_t) 11)

/* NULL is the empty type: it has no elements, and may be used like any other type. */
typedef uint64_t yaksa_type_t;
#define YAKSA_TYPE__NULL                  ((yaksa_type_t) 0)
#define YAKSA_TYPE___BOOL                 ((yaksa_type_t) 1)
#define YAKSA_TYPE__CHAR                  ((yaksa_type_t) 2)
#define YAKSA_TYPE__SIGNED_CHAR           ((yaksa_type_t) 3)
#define YAKSA_TYPE__UNSIGNED_CHAR         ((yaksa_type_t) 4)
#define YAKSA_TYPE__WCHAR_T               ((yaksa_type_t) 5)
#define YAKSA_TYPE__INT8_T                ((yaksa_type_t) 6)
#define YAKSA_TYPE__INT16_T               ((yaksa_type_t) 7)
#define YAKSA_TYPE__INT32_T               ((yaksa_type_t) 8)
#define YAKSA_TYPE__INT64_T               ((yaksa_type_t) 9)
#define YAKSA_TYPE__UINT8_T               ((yaksa_type_t) 10)
#define YAKSA_TYPE__UINT16_T              ((yaksa_type_t) 11)
#define YAKSA_TYPE__UINT32_T              ((yaksa_type_t) 12)
#define YAKSA_TYPE__UINT64_T              ((yaksa_type_t) 13)
#define YAKSA_TYPE__INT                   ((yaksa_type_t) 14)
#define YAKSA_TYPE__UNSIGNED              ((yaksa_type_t) 15)
#define YAKSA_TYPE__SHORT                 ((yaksa_type_t) 16)
#define YAKSA_TYPE__UNSIGNED_SHORT        ((yaksa_type_t) 17)
#define YAKSA_TYPE__LONG                  ((yaksa_type_t) 18)
#define YAKSA_TYPE__UNSIGNED_LONG         ((yaksa_type_t) 19)
#define YAKSA_TYPE__LONG_LONG             ((yaksa_type_t) 20)
#define YAKSA_TYPE__UNSIGNED_LONG_LONG    ((yaksa_type_t) 21)
#define YAKSA_TYPE__INT_FAST8_T           ((yaksa_type_t) 22)
#define YAKSA_TYPE__INT_FAST16_T          ((yaksa_type_t) 23)
#define YAKSA_TYPE__INT_FAST32_T          ((yaksa_type_t) 24)
#define YAKSA_TYPE__INT_FAST64_T          ((yaksa_type_t) 25)
#define YAKSA_TYPE__UINT_FAST8_T          ((yaksa_type_t) 26)
#define YAKSA_TYPE__UINT_FAST16_T         ((yaksa_type_t) 27)
#define YAKSA_TYPE__UINT_FAST32_T         ((yaksa_type_t) 28)
#define YAKSA_TYPE__UINT_FAST64_T         ((yaksa_type_t) 29)
#define YAKSA_TYPE__INT_LEAST8_T          ((yaksa_type_t) 30)
#define YAKSA_TYPE__INT_LEAST16_T         ((yaksa_type_t) 31)
#define YAKSA_TYPE__INT_LEAST32_T         ((yaksa_type_t) 32)
#define YAKSA_TYPE__INT_LEAST64_T         ((yaksa_type_t) 33)
#define YAKSA_TYPE__UINT_LEAST8_T         ((yaksa_type_t) 34)
#define YAKSA_TYPE__UINT_LEAST16_T        ((yaksa_type_t) 35)
#define YAKSA_TYPE__UINT_LEAST32_T        ((yaksa_type_t) 36)
#define YAKSA_TYPE__UINT_LEAST64_T        ((yaksa_type_t) 37)
#define YAKSA_TYPE__BYTE                  ((yaksa_type_t) 38)
#define YAKSA_TYPE__INTMAX_T              ((yaksa_type_t) 39)
#define YAKSA_TYPE__UINTMAX_T             ((yaksa_type_t) 40)
#define YAKSA_TYPE__SIZE_T                ((yaksa_type_t) 41)
#define YAKSA_TYPE__INTPTR_T              ((yaksa_type_t) 42)
#define YAKSA_TYPE__UINTPTR_T             ((yaksa_type_t) 43)
#define YAKSA_TYPE__PTRDIFF_T             ((yaksa_type_t) 44)
#define YAKSA_TYPE__FLOAT                 ((yaksa_type_t) 45)
#define YAKSA_TYPE__DOUBLE                ((yaksa_type_t) 46)
#define YAKSA_TYPE__LONG_DOUBLE           ((yaksa_type_t) 47)
#define YAKSA_TYPE__C_COMPLEX             ((yaksa_type_t) 48)
#define YAKSA_TYPE__C_DOUBLE_COMPLEX      ((yaksa_type_t) 49)
#define YAKSA_TYPE__C_LONG_DOUBLE_COMPLEX ((yaksa_type_t) 50)
/* Pairs: the extent of the C struct, packed without its padding. */
#define YAKSA_TYPE__FLOAT_INT             ((yaksa_type_t) 51)
#define YAKSA_TYPE__DOUBLE_INT            ((yaksa_type_t) 52)
#define YAKSA_TYPE__LONG_INT              ((yaksa_type_t) 53)
#define YAKSA_TYPE__2INT                  ((yaksa_type_t) 54)
#define YAKSA_TYPE__SHORT_INT             ((yaksa_type_t) 55)
#define YAKSA_TYPE__LONG_DOUBLE_INT       ((yaksa_type_t) 56)

/* A request is NULL if the work is complete. */
typedef uint64_t yaksa_request_t;
#define YAKSA_REQUEST__NULL               ((yaksa_request_t) 0)

#define YAKSA_SUCCESS                     (0)
#define YAKSA_ERR__OUT_OF_MEM             (1)
#define YAKSA_ERR__INTERNAL               (2)
#define YAKSA_ERR__NOT_SUPPORTED          (3)

/* clang-format on */

typedef enum { YAKSA_SUBARRAY_ORDER__C, YAKSA_SUBARRAY_ORDER__FORTRAN } yaksa_subarray_order_e;

typedef void *yaksa_info_t;
#define YAKSA_INFO_MAX_KEYLEN (256)

/* The version of yaksa whose interface this header has, as text and as a number. */
#define YAKSA_VERSION "0.4"
#define YAKSA_NUMVERSION YAKSA_CALC_VERSION(0, 4, 0, YAKSA_RELEASE_TYPE_PATCH, 0)
#define YAKSA_RELEASE_TYPE_ALPHA 0
#define YAKSA_RELEASE_TYPE_BETA 1
#define YAKSA_RELEASE_TYPE_RC 2
#define YAKSA_RELEASE_TYPE_PATCH 3
#define YAKSA_CALC_VERSION(MAJOR, MINOR, REVISION, TYPE, PATCH)                                    \
    (((MAJOR)*10000000) + ((MINOR)*100000) + ((REVISION)*1000) + ((TYPE)*100) + (PATCH))

/* ---------------------------------------------------------------------------------------------- */
/* Failures, hints, life cycle                                                                    */
/* ---------------------------------------------------------------------------------------------- */

/* The calling thread's last failure in libucd-yaksa as a sentence that names function, argument and
 * rule. "" if nothing has failed in this thread; a success does not clear it. Never NULL. The
 * string belongs to the library and is valid until the next failure in this thread. Valid at any
 * time. Not in yaksa. */
UCD_YAKSA_API const char *ucd_yaksa_last_error(void);

/* Creates an empty info, which the caller frees. Valid at any time.
 * Returns: OUT_OF_MEM, INTERNAL (info is NULL). */
UCD_YAKSA_API int yaksa_info_create(yaksa_info_t *info);

/* Frees an info. A call needs its info only until it returns. Valid at any time.
 * Returns: INTERNAL (info is NULL). */
UCD_YAKSA_API int yaksa_info_free(yaksa_info_t info);

/* Sets a hint: vallen bytes at val, which are copied. Keys that have an effect:
 *
 *   yaksa_gpu_driver            text, with or without its NUL: nogpu (all buffers are host memory,
 *                               so none is looked up; in the info of the first yaksa_init, this
 *                               holds for all calls), or cuda, hip, ze (the kind of the streams
 *                               that are passed to the stream functions)
 *   yaksa_cuda_inbuf_ptr_attr   a struct cudaPointerAttributes, as the CUDA runtime returns it for
 *   yaksa_cuda_outbuf_ptr_attr  the input and the output buffer, which are then not looked up
 *   ucd.*                       text: a key of ucd_info_set
 *
 * All other keys are accepted and ignored, as are attributes that are too short. Valid at any time.
 * Returns: OUT_OF_MEM; INTERNAL (info or key is NULL; val is NULL though vallen is not 0; a bad
 * value of ucd.*). */
UCD_YAKSA_API int yaksa_info_keyval_append(yaksa_info_t info, const char *key, const void *val,
                                           unsigned int vallen);

/* Initialises the library, and libucd. Calls are counted: each success needs a yaksa_finalize. Only
 * the first call uses info.
 * Returns: OUT_OF_MEM; INTERNAL (an environment variable of ucd_init has a bad value). */
UCD_YAKSA_API int yaksa_init(yaksa_info_t info);

/* Undoes one yaksa_init. The last call waits for all work, and frees all types and requests.
 * Returns: INTERNAL (there were as many successful calls of yaksa_init as of this function). */
UCD_YAKSA_API int yaksa_finalize(void);

/* ---------------------------------------------------------------------------------------------- */
/* Types                                                                                          */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Constructors write a new handle to *newtype, which the caller frees with yaksa_type_free; oldtype
 * may be freed earlier. The result is YAKSA_TYPE__NULL, whose bounds are 0, if it has no elements
 * (except from resized and dup). Arrays are copied; info has no effect.
 *
 * Bounds: a type reaches from the smallest lower bound to the largest upper bound of the elements
 * of oldtype in it. Only structs of several different types are rounded up to their alignment.
 *
 * Every constructor returns: OUT_OF_MEM; INTERNAL (a handle is invalid; a count, length or size is
 * negative; an array or newtype is NULL; the type is too large: ucd.h, Units).
 */

/* count elements, one extent apart. */
UCD_YAKSA_API int yaksa_type_create_contig(intptr_t count, yaksa_type_t oldtype, yaksa_info_t info,
                                           yaksa_type_t *newtype);

/* The same type under a new handle. */
UCD_YAKSA_API int yaksa_type_create_dup(yaksa_type_t oldtype, yaksa_info_t info,
                                        yaksa_type_t *newtype);

/* count blocks of blocklength elements; block starts are stride elements apart. */
UCD_YAKSA_API int yaksa_type_create_vector(intptr_t count, intptr_t blocklength, intptr_t stride,
                                           yaksa_type_t oldtype, yaksa_info_t info,
                                           yaksa_type_t *newtype);

/* The same with a stride in bytes. */
UCD_YAKSA_API int yaksa_type_create_hvector(intptr_t count, intptr_t blocklength, intptr_t stride,
                                            yaksa_type_t oldtype, yaksa_info_t info,
                                            yaksa_type_t *newtype);

/* count blocks of blocklength elements, at displacements in elements. */
UCD_YAKSA_API int yaksa_type_create_indexed_block(intptr_t count, intptr_t blocklength,
                                                  const intptr_t *array_of_displacements,
                                                  yaksa_type_t oldtype, yaksa_info_t info,
                                                  yaksa_type_t *newtype);

/* The same with displacements in bytes. */
UCD_YAKSA_API int yaksa_type_create_hindexed_block(intptr_t count, intptr_t blocklength,
                                                   const intptr_t *array_of_displacements,
                                                   yaksa_type_t oldtype, yaksa_info_t info,
                                                   yaksa_type_t *newtype);

/* count blocks of lengths of their own, at displacements in elements. */
UCD_YAKSA_API int yaksa_type_create_indexed(intptr_t count, const intptr_t *array_of_blocklengths,
                                            const intptr_t *array_of_displacements,
                                            yaksa_type_t oldtype, yaksa_info_t info,
                                            yaksa_type_t *newtype);

/* The same with displacements in bytes. */
UCD_YAKSA_API int yaksa_type_create_hindexed(intptr_t count, const intptr_t *array_of_blocklengths,
                                             const intptr_t *array_of_displacements,
                                             yaksa_type_t oldtype, yaksa_info_t info,
                                             yaksa_type_t *newtype);

/* The elements of oldtype with the lower bound lb and the given extent, which may be negative. */
UCD_YAKSA_API int yaksa_type_create_resized(yaksa_type_t oldtype, intptr_t lb, intptr_t extent,
                                            yaksa_info_t info, yaksa_type_t *newtype);

/* count blocks with lengths and types of their own, at displacements in bytes. Each entry of
 * array_of_types is a type, even if its length is 0. */
UCD_YAKSA_API int yaksa_type_create_struct(intptr_t count, const intptr_t *array_of_blocklengths,
                                           const intptr_t *array_of_displacements,
                                           const yaksa_type_t *array_of_types, yaksa_info_t info,
                                           yaksa_type_t *newtype);

/* A part of an array of ndims dimensions: the array has sizes, and the part has subsizes and begins
 * at starts. The bounds are those of the whole array. INTERNAL also if the part is not within the
 * array. */
UCD_YAKSA_API int yaksa_type_create_subarray(int ndims, const intptr_t *array_of_sizes,
                                             const intptr_t *array_of_subsizes,
                                             const intptr_t *array_of_starts,
                                             yaksa_subarray_order_e order, yaksa_type_t oldtype,
                                             yaksa_info_t info, yaksa_type_t *newtype);

/* Frees a handle. Types built on it and requests that use it stay valid. YAKSA_TYPE__NULL is
 * allowed.
 * Returns: INTERNAL (not a type, or another predefined type). */
UCD_YAKSA_API int yaksa_type_free(yaksa_type_t type);

/* The packed bytes of one element. Returns: INTERNAL. */
UCD_YAKSA_API int yaksa_type_get_size(yaksa_type_t type, uintptr_t *size);

/* Lower bound and extent. Returns: INTERNAL. */
UCD_YAKSA_API int yaksa_type_get_extent(yaksa_type_t type, intptr_t *lb, intptr_t *extent);

/* The first byte that the type touches, and the distance from there to the end of the last; 0 and 0
 * if it touches none. Returns: INTERNAL. */
UCD_YAKSA_API int yaksa_type_get_true_extent(yaksa_type_t type, intptr_t *lb, intptr_t *extent);

/* ---------------------------------------------------------------------------------------------- */
/* Moving data                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

/*
 * The packed stream of (count, type) is its elements in order, without gaps; an offset skips bytes
 * of it. A call moves as many whole elements (of predefined types; a pair is one element) as the
 * limit (max_pack_bytes, insize) and the rest of the stream allow, and sets the actual number of
 * bytes, which may be 0, before it returns. With an op other than REPLACE the offset must be at the
 * start of an element.
 *
 * Ops: integers, BYTE included, support all; _BOOL the logical ones; floating types MAX, MIN, SUM,
 * PROD; complex types SUM, PROD; a pair the ops that both its members support, each of which is
 * combined separately; CHAR and WCHAR_T only REPLACE; a derived type the ops that all its elements
 * support.
 *
 * All functions return: OUT_OF_MEM; NOT_SUPPORTED; INTERNAL (an invalid argument; an offset beyond
 * the end or, with an op, within an element; a device failed).
 */

/* Packs from the stream of (incount, type) at inbuf, from byte inoffset on, into outbuf. *request
 * is YAKSA_REQUEST__NULL if the work is complete on return. Otherwise the caller leaves input and
 * output unchanged until the request is complete; type and info may be freed. */
UCD_YAKSA_API int yaksa_ipack(const void *inbuf, uintptr_t incount, yaksa_type_t type,
                              uintptr_t inoffset, void *outbuf, uintptr_t max_pack_bytes,
                              uintptr_t *actual_pack_bytes, yaksa_info_t info, yaksa_op_t op,
                              yaksa_request_t *request);

/* The same, and waits until the work is complete. */
UCD_YAKSA_API int yaksa_pack(const void *inbuf, uintptr_t incount, yaksa_type_t type,
                             uintptr_t inoffset, void *outbuf, uintptr_t max_pack_bytes,
                             uintptr_t *actual_pack_bytes, yaksa_info_t info, yaksa_op_t op);

/* Unpacks from inbuf to the stream of (outcount, type) at outbuf, from byte outoffset on. *request
 * is as for yaksa_ipack. */
UCD_YAKSA_API int yaksa_iunpack(const void *inbuf, uintptr_t insize, void *outbuf,
                                uintptr_t outcount, yaksa_type_t type, uintptr_t outoffset,
                                uintptr_t *actual_unpack_bytes, yaksa_info_t info, yaksa_op_t op,
                                yaksa_request_t *request);

/* The same, and waits until the work is complete. */
UCD_YAKSA_API int yaksa_unpack(const void *inbuf, uintptr_t insize, void *outbuf,
                               uintptr_t outcount, yaksa_type_t type, uintptr_t outoffset,
                               uintptr_t *actual_unpack_bytes, yaksa_info_t info, yaksa_op_t op);

/* yaksa_pack in the order of a stream, to which stream points: a cudaStream_t *, or a hipStream_t *
 * if info says hip or there is no CUDA. The work is only enqueued, and the device must reach both
 * buffers. Ops other than REPLACE on pairs are NOT_SUPPORTED here. */
UCD_YAKSA_API int yaksa_pack_stream(const void *inbuf, uintptr_t incount, yaksa_type_t type,
                                    uintptr_t inoffset, void *outbuf, uintptr_t max_pack_bytes,
                                    uintptr_t *actual_pack_bytes, yaksa_info_t info, yaksa_op_t op,
                                    void *stream);

/* yaksa_unpack in the order of a stream; otherwise as yaksa_pack_stream. */
UCD_YAKSA_API int yaksa_unpack_stream(const void *inbuf, uintptr_t insize, void *outbuf,
                                      uintptr_t outcount, yaksa_type_t type, uintptr_t outoffset,
                                      uintptr_t *actual_unpack_bytes, yaksa_info_t info,
                                      yaksa_op_t op, void *stream);

/* Makes progress, and sets *completed to 1 or 0. A request that is complete is freed; so is one
 * whose work failed: *completed is then 1, and the call returns the failure.
 * Returns: OUT_OF_MEM; INTERNAL (not a request; completed is NULL; the work failed). */
UCD_YAKSA_API int yaksa_request_test(yaksa_request_t request, int *completed);

/* Waits until the request is complete, and frees it.
 * Returns: OUT_OF_MEM; INTERNAL (not a request; the work failed). */
UCD_YAKSA_API int yaksa_request_wait(yaksa_request_t request);

/* ---------------------------------------------------------------------------------------------- */
/* I/O vectors                                                                                    */
/* ---------------------------------------------------------------------------------------------- */

/*
 * The segments of (count, type) are those of one element, count times; segments of different
 * elements are not joined. If the type is contiguous, all of it is one segment, of 0 bytes if
 * there is no data.
 *
 * All functions return: OUT_OF_MEM; INTERNAL.
 */

/* The number of segments. */
UCD_YAKSA_API int yaksa_iov_len(uintptr_t count, yaksa_type_t type, uintptr_t *iov_len);

/* The largest number of whole segments, from the first on, with at most max_iov_bytes bytes
 * together, and their bytes. */
UCD_YAKSA_API int yaksa_iov_len_max(uintptr_t count, yaksa_type_t type, uintptr_t max_iov_bytes,
                                    uintptr_t *iov_len, uintptr_t *actual_iov_bytes);

/* Writes up to max_iov_len segments, starting with segment iov_offset, and sets *actual_iov_len to
 * the number written, which is 0 at and beyond the end. No data is accessed. */
UCD_YAKSA_API int yaksa_iov(const char *buf, uintptr_t count, yaksa_type_t type,
                            uintptr_t iov_offset, struct iovec *iov, uintptr_t max_iov_len,
                            uintptr_t *actual_iov_len);

/* ---------------------------------------------------------------------------------------------- */
/* Flattening                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

/* The number of bytes that yaksa_flatten writes. Returns: OUT_OF_MEM, INTERNAL. */
UCD_YAKSA_API int yaksa_flatten_size(yaksa_type_t type, uintptr_t *flattened_type_size);

/* Writes the type as bytes, for another process that uses this library. flattened_type has room for
 * as many bytes as yaksa_flatten_size sets, at any alignment. Returns: OUT_OF_MEM, INTERNAL. */
UCD_YAKSA_API int yaksa_flatten(yaksa_type_t type, void *flattened_type);

/* Creates a type from the bytes that yaksa_flatten wrote; the caller frees it. The bytes contain
 * their own length, and that many are read. Any bytes give a valid type or an error, provided that
 * the memory at flattened_type is as long as they say.
 * Returns: OUT_OF_MEM; NOT_SUPPORTED (a newer format); INTERNAL (the bytes are not a type). */
UCD_YAKSA_API int yaksa_unflatten(yaksa_type_t *type, const void *flattened_type);

#ifdef __cplusplus
}
#endif

#endif /* YAKSA_H_INCLUDED */
