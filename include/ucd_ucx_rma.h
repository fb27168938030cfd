/*
 * ucd_ucx_rma.h - one-sided operations between workers of UCX, with a type at each side.
 *
 * A process exposes memory as a window and sends the window's key to other processes. These put
 * data into the window, get data from it, or accumulate into it. The process calls no function for
 * each operation; it only makes progress. The types at origin and target may differ (MPI 12): bytes
 * match by their place in the packed streams. The target need not know the types beforehand: the
 * origin passes both to the call, the target's type is sent flattened, and the target remembers it.
 * share/doc/ucd/guide/ucx.md is a guide with examples.
 *
 * The conventions of ucd.h and ucd_ucx.h hold: statuses, units, null rules, ownership, struct_size,
 * threads (as the worker's thread mode) and blocking. ucd_ucx_last_error also reports failures of
 * these functions. The target is the process that created the window, the origin the process that
 * calls an operation. A process can be both, also for the same window.
 */
#ifndef UCD_UCX_RMA_H_INCLUDED
#define UCD_UCX_RMA_H_INCLUDED

#include <ucd_ucx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ucd_ucx_window *ucd_ucx_window_t;

#define UCD_UCX_WINDOW__NULL ((ucd_ucx_window_t)0)

/* ---------------------------------------------------------------------------------------------- */
/* Objects that take part                                                                         */
/* ---------------------------------------------------------------------------------------------- */

/*
 * A worker takes part in one-sided operations, as origin and as target, by an object with the
 * family UCD_UCX_ONE_SIDED (ucd_ucx_create). Origin and target have the same am_id. Each makes
 * progress with ucd_ucx_progress, the target too, and calls ucd_ucx_lose_endpoint for an endpoint
 * that is closed or has failed: an origin that has died would otherwise block accumulates on the
 * target's window.
 *
 * The keys of ucd_ucx_create can be set in the info of an operation, too, but for those that are
 * said to be only for the object. These are only for the info of ucd_ucx_create:
 *
 *   ucd.ucx.rma.types  bytes of memory for types that are remembered as target, and the same again
 *                      as origin (default 16 MiB; 0: none). The types that were used last are
 *                      kept. A type that was forgotten is sent again when it is used. What does not
 *                      fit is charged to the endpoint that uses it: see ucd.ucx.peer_memory.
 *   ucd.ucx.rma.peer_operations
 *                      operations of one endpoint that may wait at this target, for their types,
 *                      for their turn or for a device (default 65,536). Further ones end with
 *                      UCS_ERR_NO_MEMORY.
 *
 * These mean more than for transfers:
 *
 *   ucd.ucx.peer_memory, ucd.ucx.peers_memory
 *                      limit also what endpoints make a target keep: operations with their data,
 *                      types, chunks, old values, answers that the endpoint does not fetch. An
 *                      operation waits for others of its endpoint, or ends with UCS_ERR_NO_MEMORY
 *                      if it never fits. With the default, a flattened type has at most about
 *                      900 KB, a get_accumulate 84 MiB, and a chunk of a put 32 MiB: see
 *                      share/doc/ucd/guide/security.md. An endpoint that goes on without fetching
 *                      answers gets no more of them.
 *   ucd.ucx.timeout    for an operation, time runs until its answer has arrived, and begins anew
 *                      with each chunk of its data. An operation that has timed out may still take
 *                      effect at the target.
 */

/* ---------------------------------------------------------------------------------------------- */
/* Windows                                                                                        */
/* ---------------------------------------------------------------------------------------------- */

/* What an origin needs in order to use a window: plain bytes, which may be sent by any means.
 * Whoever has the key can read and write the window. 128 bits of it are random, so it cannot be
 * guessed. */
typedef struct {
    unsigned char bytes[32];
} ucd_ucx_window_key_t;

/* Exposes host or device memory at base, bytes long and all of one kind and device, to processes
 * that have the key. base may be NULL if bytes is 0. If info has ucd.outbuf, that is the kind of
 * memory, and it is not looked up; the other hints and keys of info apply whenever the window is
 * read or written.
 *
 * The caller keeps the memory allocated as long as the window exists. It may access the memory as
 * MPI 12.7 allows: what an operation wrote may be read when the operation is known to be complete
 * at its origin; what is written locally is seen by operations that begin later.
 *
 * Returns: NOT_INITIALIZED, INVALID_ARG, OVERFLOW, NOT_SUPPORTED, OUT_OF_MEM, INTERNAL. */
UCD_UCX_API int ucd_ucx_window_create(ucd_ucx_t ucx, void *base, uintptr_t bytes, ucd_info_t info,
                                      ucd_ucx_window_t *window);

/* Same, for bytes bytes of host memory that the function allocates. Sets *base to their address, or
 * to NULL if bytes is 0. They are zero, and begin at a page. With ucd.ucx.direct, processes of this
 * machine that are trusted map the memory, and do short operations there without a message,
 * accumulates too: see share/doc/ucd/guide/ucx-ways.md. ucd_ucx_window_destroy frees the memory;
 * the caller must not. After a fork, the child shares it. info must not name another kind of
 * memory. MPI 12.2.2 (MPI_Win_allocate).
 *
 * Returns: NOT_INITIALIZED, INVALID_ARG, OUT_OF_MEM, INTERNAL. */
UCD_UCX_API int ucd_ucx_window_allocate(ucd_ucx_t ucx, uintptr_t bytes, ucd_info_t info,
                                        void **base, ucd_ucx_window_t *window);

/* Writes the window's key to *key. Returns: INVALID_ARG. */
UCD_UCX_API int ucd_ucx_window_key(ucd_ucx_window_t window, ucd_ucx_window_key_t *key);

/* Frees *window (Ownership in ucd.h), with the memory of ucd_ucx_window_allocate. Later operations
 * on it fail, and so do those that have arrived but not begun. Returns: INVALID_ARG (also: an
 * operation is in progress on it, in which case nothing changes: make progress until it is
 * complete, or call ucd_ucx_lose_endpoint. Of an origin that is stopped at work in mapped memory,
 * only the end of its process frees the window). */
UCD_UCX_API int ucd_ucx_window_destroy(ucd_ucx_window_t *window);

/* ---------------------------------------------------------------------------------------------- */
/* Operations                                                                                     */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Rules for the four functions that start an operation.
 *
 * Target     The window of *key at the process behind ep. The target's buffer starts target_disp
 *            bytes from the window's base. target_count of target_type there must touch no byte
 *            outside the window, and must have as many bytes as the origin's data. Displacements
 *            and bounds may have any sign. The target's elements must not overlap each other if the
 *            operation writes them.
 * Completion An operation is complete when the target's answer has arrived: data that was put or
 *            accumulated is in the window, data that was fetched is in the origin's buffer. So
 *            the operation's status includes errors at the target, and a flush only waits. The
 *            target must make progress. With ucd.ucx.direct, the origin may do the operation
 *            itself, before the call returns and without the target. Also then *request is a
 *            request, and the callback is called.
 * Order      Operations are not ordered, unless a fence is between them or the first one is
 *            complete before the second one is started.
 * Memory     Host or device at either side. In an operation's info, ucd.inbuf is about a buffer
 *            that is sent, ucd.outbuf about a buffer that is received into.
 * Ownership  Until the operation is complete, the caller must not change a buffer that is sent, nor
 *            read or write a buffer that is received into. Types, info and key may be freed at
 *            once. The caller frees *request with ucd_ucx_request_free. ucd_ucx_request_check and
 *            the callback in param tell when the operation is complete; param may be NULL.
 *            Callbacks are called from ucd_ucx_progress. They may start operations and free
 *            requests, but must not make progress.
 * Cancelling An operation cannot be cancelled. ucd_ucx_lose_endpoint ends all operations of an
 *            endpoint.
 *
 * Result. The status in ucd_ucx_result_t is one of these:
 *
 *   UCS_OK                  success; bytes is the size of the data, counted once
 *   UCS_ERR_NO_ELEM         the target has no window with this key
 *   UCS_ERR_OUT_OF_RANGE    the target's type touches bytes outside the window
 *   UCS_ERR_INVALID_PARAM   the target rejected the message: it violates the protocol, sizes or
 *                           elements do not match, or elements that are written overlap
 *   UCS_ERR_UNSUPPORTED     the target cannot do it: its memory does not support the op on these
 *                           elements; the layout has millions of segments, which would have to be
 *                           checked for overlap; or the message is of another protocol version,
 *                           or of a machine of the other byte order
 *   UCS_ERR_NO_MEMORY       an allocation failed at either side
 *   UCS_ERR_IO_ERROR        moving the data failed at either side; see ucd in the result
 *   UCS_ERR_TIMED_OUT       nothing moved for ucd.ucx.timeout
 *   UCS_ERR_CANCELED, ...   the status given to ucd_ucx_lose_endpoint
 *   any other               a status of UCX
 *
 * With the four statuses after UCS_OK, nothing was written at the target. With the others, any part
 * of the target's bytes may have been written, and any part of the buffer that is received into.
 *
 * Returns, every one: NOT_INITIALIZED; INVALID_ARG (also: a bad value of a key; *key is no key;
 * origin and target differ in size); OVERFLOW; NOT_SUPPORTED; OUT_OF_MEM; DEVICE; INTERNAL.
 * Nothing was started then.
 */

/* Writes origin_count of origin_type at origin_buf to the target. MPI 12.3.1 (MPI_Rput). */
UCD_UCX_API int ucd_ucx_put_nbx(ucd_ucx_t ucx, ucp_ep_h ep, const void *origin_buf,
                                uintptr_t origin_count, ucd_type_t origin_type,
                                const ucd_ucx_window_key_t *key, intptr_t target_disp,
                                uintptr_t target_count, ucd_type_t target_type,
                                const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* Reads from the target into origin_count of origin_type at origin_buf. MPI 12.3.2 (MPI_Rget). */
UCD_UCX_API int ucd_ucx_get_nbx(ucd_ucx_t ucx, ucp_ep_h ep, void *origin_buf,
                                uintptr_t origin_count, ucd_type_t origin_type,
                                const ucd_ucx_window_key_t *key, intptr_t target_disp,
                                uintptr_t target_count, ucd_type_t target_type,
                                const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* For ucd_ucx_get_accumulate_nbx: only fetch, leave the target unchanged. MPI_NO_OP. */
#define UCD_UCX_OP__NO_OP ((ucd_op_t)-1)

/* Combines the origin's data with the target's, element by element: target = target op origin. All
 * elements of both types must be of one predefined type, the same at both sides (equal in class,
 * width and alignment, as in flattened types). The update of each element is atomic with respect to
 * other accumulates and get_accumulates on the same window, also with UCD_OP__REPLACE. It is not
 * atomic with respect to puts, gets, local accesses, and accumulates through another window on the
 * same memory. MPI 12.3.4 (MPI_Raccumulate).
 * INVALID_ARG also: a type has elements of several predefined types; the two sides differ.
 * NOT_SUPPORTED also: the type does not support op. */
UCD_UCX_API int ucd_ucx_accumulate_nbx(ucd_ucx_t ucx, ucp_ep_h ep, const void *origin_buf,
                                       uintptr_t origin_count, ucd_type_t origin_type,
                                       const ucd_ucx_window_key_t *key, intptr_t target_disp,
                                       uintptr_t target_count, ucd_type_t target_type, ucd_op_t op,
                                       const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* As ucd_ucx_accumulate_nbx; and fetches the target's old values into result_count of result_type
 * at result_buf. Fetch and update are atomic with respect to other accumulates on the window. The
 * buffers of origin and result must not overlap. With UCD_UCX_OP__NO_OP the origin's buffer, count
 * and type are ignored. MPI 12.3.4 (MPI_Rget_accumulate). */
UCD_UCX_API int ucd_ucx_get_accumulate_nbx(
    ucd_ucx_t ucx, ucp_ep_h ep, const void *origin_buf, uintptr_t origin_count,
    ucd_type_t origin_type, void *result_buf, uintptr_t result_count, ucd_type_t result_type,
    const ucd_ucx_window_key_t *key, intptr_t target_disp, uintptr_t target_count,
    ucd_type_t target_type, ucd_op_t op, const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* Creates a request that completes when all operations that were started before this call, on ep
 * or, if ep is NULL, on all endpoints, are complete. Its status is that of the first operation that
 * failed, else UCS_OK; its bytes are 0. *request is UCD_UCX_REQUEST__NULL if no operation is
 * outstanding. The info in param is checked, and has no effect. MPI 12.5.4 (MPI_Win_flush).
 * Returns: INVALID_ARG, OUT_OF_MEM, INTERNAL. */
UCD_UCX_API int ucd_ucx_flush_nbx(ucd_ucx_t ucx, ucp_ep_h ep, const ucd_ucx_param_t *param,
                                  ucd_ucx_request_t *request);

/* Orders operations: those that are started on ep after this call (if ep is NULL, on each endpoint)
 * take effect after those that were started before it. The later ones are sent when the earlier
 * ones are complete. Does not wait. If a later operation cannot be sent then, it ends with
 * UCS_ERR_IO_ERROR, and ucd in the result says why.
 * Returns: INVALID_ARG, OUT_OF_MEM, INTERNAL. */
UCD_UCX_API int ucd_ucx_fence(ucd_ucx_t ucx, ucp_ep_h ep);

#ifdef __cplusplus
}
#endif

#endif /* UCD_UCX_RMA_H_INCLUDED */
