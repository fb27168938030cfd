/*
 * ucd_ucx_rma.h - one-sided operations between workers of UCX, with a type at each side.
 *
 * A process exposes memory as a window and gives its key to others, who put data there, get it, or
 * accumulate into it, without a call of the process for each: it only makes progress. The types at
 * origin and target may differ (MPI 12): bytes match by their place in the packed streams. The
 * target needs to know no type beforehand: the origin's call names it, it travels flattened, and
 * the target keeps it for the next time. Messages and what they cost: docs/one-sided.md.
 *
 * The conventions of ucd.h and ucd_ucx.h hold: statuses, units, null rules, ownership, struct_size,
 * threads (as the worker's thread mode) and blocking. ucd_ucx_last_error tells of these functions
 * too. "Target" is whoever made the window, "origin" whoever calls an operation; a process may be
 * both, also of the same window.
 */
#ifndef UCD_UCX_RMA_H_INCLUDED
#define UCD_UCX_RMA_H_INCLUDED

#include <ucd_ucx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ucd_ucx_rma *ucd_ucx_rma_t;
typedef struct ucd_ucx_window *ucd_ucx_window_t;

#define UCD_UCX_RMA__NULL ((ucd_ucx_rma_t)0)
#define UCD_UCX_WINDOW__NULL ((ucd_ucx_window_t)0)

/* ---------------------------------------------------------------------------------------------- */
/* Workers that take part                                                                         */
/* ---------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t struct_size; /* see Conventions in ucd.h */
    unsigned am_id;       /* the active message of the worker that is taken; the same at each worker
                           * that takes part, and of no pipeline */
    /* Memory for chunks, as in ucd_ucx_pipeline_params_t. Both or neither are set. */
    void *(*allocate)(size_t bytes, void *memory_arg);
    void (*release)(void *memory, size_t bytes, void *memory_arg);
    void *memory_arg;
    /* As in ucd_ucx_pipeline_params_t, for operations. Called from ucd_ucx_rma_progress. */
    void (*unresponsive)(ucp_ep_h ep, void *unresponsive_arg);
    void *unresponsive_arg;
} ucd_ucx_rma_params_t;

/* Makes a worker take part, as origin and target; its context has UCP_FEATURE_TAG and
 * UCP_FEATURE_AM. Keys of info, besides those of ucd_ucx_pipeline_create, which also are keys of an
 * operation's info:
 *
 *   ucd.ucx.rma.types  bytes of memory for types that are kept as target, and as many as origin
 *                      (default 16 MiB; 0: none). Those that were used last are kept. A type
 *                      that is not kept is sent again when it is used; nothing else differs.
 *   ucd.ucx.rma.peer_operations
 *                      operations of one endpoint that wait at this target (default 65,536): for
 *                      their types, for their turn, for a device. More are answered with
 *                      UCS_ERR_NO_MEMORY.
 *   ucd.ucx.peer_memory
 *                      bytes of their data, and of answers that the endpoint does not take. An
 *                      endpoint that goes beyond it by not taking answers is not answered any more.
 *   ucd.ucx.timeout    of an operation: until its answer has come. What it does at the target may
 *                      still be done.
 *
 * params and info are read during the call. It ends with ucd_ucx_rma_destroy, before its worker and
 * before the last ucd_finalize.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: a bad value of a key; allocate without release),
 * NOT_SUPPORTED, DEVICE (as UCX refuses), OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_ucx_rma_create(ucp_worker_h worker, const ucd_ucx_rma_params_t *params,
                               ucd_info_t info, ucd_ucx_rma_t *rma);

/* Ends *rma and sets it to UCD_UCX_RMA__NULL.
 * Returns: INVALID_ARG (NULL; an operation is not complete, a window exists, or an answer to
 * another process is not sent yet, in which cases nothing changes). */
UCD_API int ucd_ucx_rma_destroy(ucd_ucx_rma_t *rma);

/* Makes progress of the worker (it calls ucp_worker_progress), of operations, and of those of
 * others on windows of this worker, and calls the callbacks of operations that are complete. To be
 * called in place of ucp_worker_progress, at the target too, and not from a callback of UCX or of
 * an operation. Returns, unlike the others, nonzero if something moved; after a 0 one may sleep as
 * after ucd_ucx_progress. */
UCD_API unsigned ucd_ucx_rma_progress(ucd_ucx_rma_t rma);

/* Ends with status, which is an error, the operations on windows behind ep, and what has come from
 * there and is not complete; and makes rma stop using ep. Call it before ep is closed, and from
 * ep's error handler, at origin and target: an origin that is gone would otherwise hold up
 * accumulates on the target's window. What comes from ep between this call and the close is ep's
 * too: call it again when ep is closed, before another endpoint is made. Operations become complete
 * in ucd_ucx_rma_progress, when UCX no longer uses their memory. It may be called where UCX calls
 * back. With several threads, close ep when the calls that were under way in others have returned.
 * Returns: INVALID_ARG, OUT_OF_MEM. */
UCD_API int ucd_ucx_rma_lose_endpoint(ucd_ucx_rma_t rma, ucp_ep_h ep, ucs_status_t status);

/* ---------------------------------------------------------------------------------------------- */
/* Windows                                                                                        */
/* ---------------------------------------------------------------------------------------------- */

/* What an origin needs to know of a window: bytes to be sent to it by any means. Whoever has them
 * may read and write the window, and nobody else: 128 bits of them are random. */
typedef struct {
    unsigned char bytes[32];
} ucd_ucx_window_key_t;

/* Exposes the bytes bytes of host or device memory at base, all of one kind and device, to
 * operations of those who know the key. base may be NULL if bytes is 0. Of the window's info,
 * ucd.outbuf says which memory it is, so it is not looked up; the other hints and keys are used
 * whenever it is read or written.
 *
 * The memory stays the caller's, who must keep it, and reads and writes it as MPI 12.7 allows: what
 * an operation writes may be read when the operation is known to be complete at its origin, and
 * what is written locally is seen by operations that begin later.
 *
 * Returns: NOT_INITIALIZED, INVALID_ARG, OVERFLOW, NOT_SUPPORTED, OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_ucx_window_create(ucd_ucx_rma_t rma, void *base, uintptr_t bytes, ucd_info_t info,
                                  ucd_ucx_window_t *window);

/* Writes the window's key to *key. Returns: INVALID_ARG. */
UCD_API int ucd_ucx_window_key(ucd_ucx_window_t window, ucd_ucx_window_key_t *key);

/* Ends *window and sets it to UCD_UCX_WINDOW__NULL; later operations on it, and those that have
 * come and not begun, are refused. Returns: INVALID_ARG (NULL; an operation is at work on it, in
 * which case nothing changes: make progress until it is through, or use ucd_ucx_rma_lose_endpoint).
 */
UCD_API int ucd_ucx_window_destroy(ucd_ucx_window_t *window);

/* ---------------------------------------------------------------------------------------------- */
/* Operations                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Rules for the four functions that start an operation.
 *
 * Target     The window of *key, behind ep. The target's buffer is target_disp bytes from the
 *            window's base; target_count of target_type there must touch no byte outside the
 *            window, and have as many bytes as the origin's data. Displacements and bounds of any
 *            sign are legal. Where something is written, elements must not overlap each other.
 * Completion An operation is complete when the target has answered that it is done: what was put
 *            or accumulated is in the window, and what was fetched in the buffer here. So errors
 *            of the target come back with it, and a flush only waits. It never is complete on
 *            return. The target must make progress for that.
 * Order      None between operations, unless a fence or the completion of the first one makes it.
 * Memory     Host or device at either side. Of an operation's info, ucd.inbuf is about a buffer
 *            that is sent, ucd.outbuf about one that is received into.
 * Ownership  Until the operation is complete, a buffer that is sent must not be changed, and one
 *            that is received into neither read nor written. Types, info and key may be freed at
 *            once. *request is the caller's to end with ucd_ucx_request_free;
 *            ucd_ucx_request_check and the callback in param, which may be NULL, tell the end.
 *            Callbacks come from ucd_ucx_rma_progress; they may start operations and free
 *            requests, but not make progress.
 * Cancelling Is not possible. ucd_ucx_rma_lose_endpoint gives up all operations of an endpoint.
 *
 * Result. The status in ucd_ucx_result_t is one of these:
 *
 *   UCS_OK                  done; bytes is the size of what was moved one way
 *   UCS_ERR_NO_ELEM         the target has no such window
 *   UCS_ERR_OUT_OF_RANGE    the target's bytes are not all in the window
 *   UCS_ERR_INVALID_PARAM   the target found a message to be none of this library's, or sizes or
 *                           elements that disagree, or overlap where something is written
 *   UCS_ERR_UNSUPPORTED     the target cannot do it: the op on such elements in its memory, a
 *                           layout of millions of segments that it would have to check for
 *                           overlap, or another version's message
 *   UCS_ERR_NO_MEMORY       there was none, here or there
 *   UCS_ERR_IO_ERROR        moving the data failed; ucd says how, here or there
 *   UCS_ERR_TIMED_OUT       nothing has moved for ucd.ucx.timeout
 *   UCS_ERR_CANCELED, ...   as was given to ucd_ucx_rma_lose_endpoint
 *   any other               as UCX said
 *
 * With the four after UCS_OK nothing was written at the target. With the others any part of the
 * target's bytes may have been written, and of the buffer here that is received into.
 *
 * Returns, every one: NOT_INITIALIZED; INVALID_ARG (also: a bad value of a key; *key is no key;
 * origin and target differ in bytes); OVERFLOW; NOT_SUPPORTED; OUT_OF_MEM; DEVICE; INTERNAL.
 * Nothing has been started then.
 */

/* Writes origin_count of origin_type at origin_buf to the target. MPI 12.3.1 (MPI_Rput). */
UCD_API int ucd_ucx_put_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, const void *origin_buf,
                            uintptr_t origin_count, ucd_type_t origin_type,
                            const ucd_ucx_window_key_t *key, intptr_t target_disp,
                            uintptr_t target_count, ucd_type_t target_type,
                            const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* Reads the target's bytes to origin_count of origin_type at origin_buf. MPI 12.3.2 (MPI_Rget). */
UCD_API int ucd_ucx_get_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, void *origin_buf,
                            uintptr_t origin_count, ucd_type_t origin_type,
                            const ucd_ucx_window_key_t *key, intptr_t target_disp,
                            uintptr_t target_count, ucd_type_t target_type,
                            const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* For ucd_ucx_get_accumulate_nbx: changes nothing. MPI_NO_OP. */
#define UCD_UCX_OP__NO_OP ((ucd_op_t)-1)

/* Combines the origin's data with the target's, element by element: target = target op origin. Both
 * types are made of one predefined type, the same at both sides (by class, width and alignment, as
 * they are flattened). Each element is changed at once as far as other accumulates and
 * get_accumulates on the same window can tell, whatever else they have in common; with
 * UCD_OP__REPLACE too. Puts, gets and local accesses are not told apart from the parts of an
 * element, and accumulates by way of another window on the same memory count as such. MPI 12.3.4
 * (MPI_Raccumulate). INVALID_ARG also: a type is not made of one predefined type, or not of the
 * same. NOT_SUPPORTED also: the type does not take op. */
UCD_API int ucd_ucx_accumulate_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, const void *origin_buf,
                                   uintptr_t origin_count, ucd_type_t origin_type,
                                   const ucd_ucx_window_key_t *key, intptr_t target_disp,
                                   uintptr_t target_count, ucd_type_t target_type, ucd_op_t op,
                                   const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* As ucd_ucx_accumulate_nbx; and writes what the target's elements were before to result_count of
 * result_type at result_buf. No other accumulate on the window comes between. The buffers of origin
 * and result must not overlap. With UCD_UCX_OP__NO_OP the origin's buffer, count and type are not
 * looked at. MPI 12.3.4 (MPI_Rget_accumulate). */
UCD_API int ucd_ucx_get_accumulate_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, const void *origin_buf,
                                       uintptr_t origin_count, ucd_type_t origin_type,
                                       void *result_buf, uintptr_t result_count,
                                       ucd_type_t result_type, const ucd_ucx_window_key_t *key,
                                       intptr_t target_disp, uintptr_t target_count,
                                       ucd_type_t target_type, ucd_op_t op,
                                       const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* A request that is complete when all operations are that were started before this call on ep, or
 * on all endpoints if ep is NULL. Its status is that of the first of them to fail, else UCS_OK; its
 * bytes are 0. *request is UCD_UCX_REQUEST__NULL if there are none. Of param, info is not looked
 * at. MPI 12.5.4 (MPI_Win_flush). Returns: INVALID_ARG, OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_ucx_rma_flush_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, const ucd_ucx_param_t *param,
                                  ucd_ucx_request_t *request);

/* Makes operations that are started on ep after this call (on each endpoint, if ep is NULL) take
 * effect after those that were started before it: they are sent when the earlier ones are complete.
 * Does not wait. One that then cannot be sent ends with UCS_ERR_IO_ERROR, and ucd says why.
 * Returns: INVALID_ARG, OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_ucx_rma_fence(ucd_ucx_rma_t rma, ucp_ep_h ep);

#ifdef __cplusplus
}
#endif

#endif /* UCD_UCX_RMA_H_INCLUDED */
