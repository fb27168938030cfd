/*
 * ucd_ucx.h - libucd-ucx: UCD's types in UCX's calls, and transfers that pack, send and unpack at
 * the same time.
 *
 * Two ways to send what a ucd_type_t describes with UCP. Either a UCP call moves it:
 * ucd_ucx_prepare and ucd_ucx_datatype give the buffer, count and datatype that the call takes. Or
 * a pipeline does: ucd_ucx_send_nbx and its kin cut the packed stream into chunks, and pack and
 * unpack some while others are on the network; from and to host and device memory, whatever UCX was
 * built with.
 *
 * The conventions of ucd.h hold: units, null rules, ownership, struct_size. What this header adds:
 *
 * Statuses    Functions return UCD_SUCCESS or a UCD_ERR__*, as ucd.h says; NOT_INITIALIZED if
 *             ucd_init was not called. What UCX refuses is OUT_OF_MEM (UCS_ERR_NO_MEMORY),
 *             NOT_SUPPORTED (UCS_ERR_UNSUPPORTED), INVALID_ARG (UCS_ERR_INVALID_PARAM) or else
 *             DEVICE. How a transfer ended is a ucs_status_t, since it is mostly UCX that says so.
 * Failure     A function that fails to start something has changed nothing.
 * Threads     As the worker's thread mode (ucp_worker_query): with UCS_THREAD_MODE_MULTI every
 *             function may be called by any thread at any time; else those of one pipeline by one
 *             thread at a time, the one that may use the worker. Datatypes belong to no worker, and
 *             their functions may be called by any thread; UCX calls them in whichever thread makes
 *             progress.
 * Blocking    No function waits for a peer. Work on host memory is done in the calling thread.
 */
#ifndef UCD_UCX_H_INCLUDED
#define UCD_UCX_H_INCLUDED

#include <ucd.h>
#include <ucp/api/ucp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread's last failure in a function of this header, as a sentence; as ucd_last_error,
 * which does not tell of these. Never NULL. */
UCD_API const char *ucd_ucx_last_error(void);

/* ---------------------------------------------------------------------------------------------- */
/* Types for UCP's calls                                                                          */
/* ---------------------------------------------------------------------------------------------- */

/*
 * A generic UCP datatype for type: UCX packs and unpacks by fragments of any length, at any offset
 * and in any order, and no fragment allocates memory. It goes with any buffer and count, any
 * number of operations at a time, and any worker of this process. It holds what it needs of
 * type and info; the hint ucd.inbuf is about buffers that are sent, ucd.outbuf about those that
 * are received.
 *
 * UCX cannot be told that packing failed. When it does, the message keeps its length, zeros stand
 * for what was not packed, and the failure is found by ucd_ucx_status. A failure to unpack makes
 * UCX's own operation fail as well.
 *
 * The caller ends *ucp_dt with ucd_ucx_release, once no operation uses it.
 * Returns: NOT_INITIALIZED, INVALID_ARG, OUT_OF_MEM, INTERNAL. Rule: ucp_dt_create_generic. */
UCD_API int ucd_ucx_datatype(ucd_type_t type, ucd_info_t info, ucp_datatype_t *ucp_dt);

/* What a UCP call is to be given in place of (buf, count, type): a buffer, a count and a datatype.
 * These are
 *
 *   contiguous   if it is one segment of host memory: its address, its bytes, and
 *                ucp_dt_make_contig(1)
 *   iov          for a few large segments of host memory: an array of ucp_dt_iov_t
 *   generic      for all else, so for device memory: buf and count, and a datatype as of
 *                ucd_ucx_datatype
 *
 * The key ucd.ucx.form (contiguous, iov, generic; default auto) chooses: NOT_SUPPORTED if the
 * layout has no such form, and what it says of the memory is believed, so a UCX that knows the
 * device may be given its memory as contiguous or iov. ucd.ucx.iov_segment is the mean segment, in
 * bytes, from which on iov is chosen (3 KiB; docs/ucx.md tells how that was measured),
 * ucd.ucx.iov_entries the most segments (4096), for the form iov too, at most 2^20.
 *
 * Datatype and array are ended with ucd_ucx_release, once no operation uses them; the buffer stays
 * the caller's. type and info may be freed at once.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: a bad value of a key above), OVERFLOW,
 * NOT_SUPPORTED, OUT_OF_MEM, INTERNAL. */
UCD_API int ucd_ucx_prepare(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                            void **ucp_buf, size_t *ucp_count, ucp_datatype_t *ucp_dt);

/* The first failure in the callbacks of a generic datatype since this was last asked, and what it
 * was in ucd_ucx_last_error; UCD_SUCCESS if there was none, and for every other datatype. Ask when
 * operations are complete.
 * Returns also: NOT_SUPPORTED, OUT_OF_MEM, DEVICE, INTERNAL, ...: how a call of ucd_pack or
 * ucd_unpack failed. */
UCD_API int ucd_ucx_status(ucp_datatype_t ucp_dt);

/* Ends what ucd_ucx_prepare or ucd_ucx_datatype gave out (then ucp_buf is NULL). Also valid after
 * the last ucd_finalize. Returns: INVALID_ARG (a generic datatype that is none of this library's);
 * or as ucd_ucx_status, and it is ended all the same. */
UCD_API int ucd_ucx_release(void *ucp_buf, ucp_datatype_t ucp_dt);

/* ---------------------------------------------------------------------------------------------- */
/* Pipelines                                                                                      */
/* ---------------------------------------------------------------------------------------------- */

typedef struct ucd_ucx_pipeline *ucd_ucx_pipeline_t;
typedef struct ucd_ucx_request *ucd_ucx_request_t;
typedef struct ucd_ucx_data *ucd_ucx_data_t;

#define UCD_UCX_PIPELINE__NULL ((ucd_ucx_pipeline_t)0)
#define UCD_UCX_REQUEST__NULL ((ucd_ucx_request_t)0)

/* What a pipeline does with the chunk that covers bytes [offset, offset + bytes) of a transfer. */
enum {
    UCD_UCX_EVENT__PACK_BEGIN = 0,
    UCD_UCX_EVENT__PACK_END,
    UCD_UCX_EVENT__POST, /* given to UCX */
    UCD_UCX_EVENT__SENT, /* UCX says that it is gone */
    UCD_UCX_EVENT__RECEIVED,
    UCD_UCX_EVENT__UNPACK_BEGIN,
    UCD_UCX_EVENT__UNPACK_END,
    UCD_UCX_EVENT__SHARE /* before POST: the receiver opens the device memory that it is in */
};
typedef struct {
    int what;        /* UCD_UCX_EVENT__* */
    uint64_t sender; /* sender, which is another for each endpoint, and number name the transfer,
                      * the same on both sides */
    uint64_t number;
    uint64_t offset, bytes;
} ucd_ucx_event_t;

typedef struct {
    uint32_t struct_size; /* see Conventions in ucd.h */
    unsigned am_id;       /* the active message of the worker that the pipeline takes for itself */
    /* Memory for chunks on the host, if it is to come from elsewhere than malloc, and pinned memory
     * for data of a device. allocate returns NULL if there is none. Both or neither are set. */
    void *(*allocate)(size_t bytes, void *memory_arg);
    void (*release)(void *memory, size_t bytes, void *memory_arg);
    void *memory_arg;
    /* Called for each event, if set; from within functions of the pipeline, one call at a time. It
     * must call none of them. */
    void (*trace)(const ucd_ucx_event_t *event, void *trace_arg);
    void *trace_arg;
    /* Called from ucd_ucx_progress, if set, for the endpoint of a transfer that has exceeded
     * ucd.ucx.timeout while UCX holds its buffer, which UCX may do for as long as the endpoint is
     * open. The program may then call ucd_ucx_lose_endpoint and close ep by force (with
     * UCP_EP_CLOSE_FLAG_FORCE), which ends everything that goes by ep. Called once for each such
     * transfer at most. It may do what a ucd_ucx_callback_t may. */
    void (*unresponsive)(ucp_ep_h ep, void *unresponsive_arg);
    void *unresponsive_arg;
} ucd_ucx_pipeline_params_t;

/* Makes a pipeline of a worker, whose context has UCP_FEATURE_TAG and UCP_FEATURE_AM. A transfer is
 * between two pipelines, each of its worker, with the same am_id. Keys, of info here as defaults,
 * and of the info of a transfer:
 *
 *   ucd.ucx.eager    bytes, at most 1 GiB: messages of at most that many are one UCP call, without
 *                    chunks
 *   ucd.ucx.chunk    bytes of a chunk, at least 1, at most 1 GiB
 *   ucd.ucx.depth    chunks of a transfer that are under way at a time, 1 to 1024
 *   ucd.ucx.staging  bytes of chunk memory that the pipeline takes (only here), and for the data
 *                    of each device once more. A transfer is always given one chunk, so that none
 *                    waits for another.
 *
 *   ucd.ucx.timeout  seconds, also with a fraction, for which nothing of a transfer may move
 *                    before it ends with UCS_ERR_TIMED_OUT; 0, the default: for ever. A receive
 *                    counts from the message that it matched. The transfer is complete when UCX
 *                    has given the buffer back: see unresponsive above.
 *
 *   ucd.ucx.peer_memory, ucd.ucx.peers_memory
 *                    bytes that messages of one endpoint, and of all, may take here before a
 *                    receive takes them (only here; 256 MiB and 1 GiB, at least 1 MiB). Beyond
 *                    them the endpoint that keeps most is barred: its transfers end with
 *                    UCS_ERR_EXCEEDS_LIMIT, and what it sends is dropped until
 *                    ucd_ucx_lose_endpoint. See docs/security.md.
 *
 * A key that begins with ucd.ucx. and is not in this header or ucd_ucx_rma.h is INVALID_ARG, in
 * every function that takes an info.
 *
 * From device memory to device memory of the same machine, chunks stay in device memory, which the
 * receiver opens, if drivers and devices can do that (see docs/gpu-ring.md):
 *
 *   ucd.ucx.ring          auto, or none: never. Either side's none will do
 *   ucd.ucx.ring_chunk    bytes of such a chunk, at least 1, at most 1 GiB
 *   ucd.ucx.ring_depth    such chunks of a transfer that are under way at a time, 1 to 1024
 *   ucd.ucx.ring_copy     yes: the receiver copies chunks to memory of its own before it unpacks
 *                         them; no
 *   ucd.ucx.ring_expose   yes: contiguous data is opened where it is, and may stay open when it was
 *                         sent; no: it is copied to a chunk first
 *   ucd.ucx.ring_staging  bytes of each device's memory that the pipeline takes (only here), again
 *                         with one chunk for each transfer
 *
 * The defaults, and how they were measured, are in docs/ucx.md. params and info are read during the
 * call. The pipeline ends with ucd_ucx_pipeline_destroy, before its worker and before the last
 * ucd_finalize.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: a bad value of a key; allocate without release;
 * another pipeline of this worker has am_id), NOT_SUPPORTED, DEVICE (as UCX refuses), OUT_OF_MEM,
 * INTERNAL. */
UCD_API int ucd_ucx_pipeline_create(ucp_worker_h worker, const ucd_ucx_pipeline_params_t *params,
                                    ucd_info_t info, ucd_ucx_pipeline_t *pipeline);

/* Ends *pipeline and sets it to UCD_UCX_PIPELINE__NULL. Messages that nobody received are dropped,
 * and callbacks that ucd_ucx_progress has not come to call are not called.
 * Returns: INVALID_ARG (NULL; a transfer is not complete, in which case nothing changes). */
UCD_API int ucd_ucx_pipeline_destroy(ucd_ucx_pipeline_t *pipeline);

/* Makes progress of the worker (it calls ucp_worker_progress) and of the pipeline's transfers, and
 * calls the callbacks of those that are complete. To be called in place of ucp_worker_progress, and
 * not from a callback of UCX. Returns, unlike the others, nonzero if something moved. A pipeline
 * whose last call returned 0 has nothing to do until the worker has (ucp_worker_arm), unless device
 * memory is being packed or unpacked, whose end no event tells, or a transfer has a time limit. Of
 * NULL, 0. */
UCD_API unsigned ucd_ucx_progress(ucd_ucx_pipeline_t pipeline);

/* How a transfer ended. */
typedef struct {
    ucs_status_t status; /* UCS_OK; UCS_ERR_CANCELED (by either side); UCS_ERR_MESSAGE_TRUNCATED;
                          * UCS_ERR_NO_MEMORY; UCS_ERR_IO_ERROR: ucd says more;
                          * UCS_ERR_INVALID_PARAM: the message is no pipeline's, or its sender does
                          * not keep to the protocol; UCS_ERR_UNSUPPORTED: an earlier version's;
                          * UCS_ERR_TIMED_OUT; UCS_ERR_EXCEEDS_LIMIT: its endpoint is barred; or
                          * as UCX said */
    int ucd;             /* the UCD_ERR__* that packing or unpacking failed with, or UCD_SUCCESS */
    uint64_t bytes;      /* of the message; 0 if it failed */
    ucp_tag_t tag;       /* of a received tagged message */
} ucd_ucx_result_t;

/* Called when a transfer is complete, from ucd_ucx_progress; never if it was complete on return of
 * the call that started it. It may start, cancel and free, but not make progress. */
typedef void (*ucd_ucx_callback_t)(ucd_ucx_request_t request, const ucd_ucx_result_t *result,
                                   void *user_data);

typedef struct {
    uint32_t struct_size;        /* see Conventions in ucd.h */
    ucd_info_t info;             /* hints and keys; UCD_INFO__NULL for none */
    ucd_ucx_callback_t callback; /* or NULL */
    void *user_data;
} ucd_ucx_param_t;

/*
 * Rules for the four functions that start a transfer.
 *
 * Matching   As ucp_tag_send_nbx and ucp_tag_recv_nbx match, in the order of the calls. A message
 *            sent by one pair of functions is received by the same pair. Sender and receiver may
 *            have different types: bytes match by their place in the packed streams (MPI 3.3.1).
 * Memory     Host or device, as for ucd_pack and ucd_unpack; the hint ucd.inbuf is about a buffer
 *            that is sent, ucd.outbuf about one that is received.
 * Ownership  Until the transfer is complete, a buffer that is sent must not be changed, and one
 * that is received neither read nor written. Type and info may be freed at once. *request is
 *            UCD_UCX_REQUEST__NULL if the transfer was complete on return; else it is the caller's
 *            to end with ucd_ucx_request_free. params may be NULL.
 * Truncation A message longer than its receive completes that with UCS_ERR_MESSAGE_TRUNCATED; the
 *            sender does not notice, and what was received is unspecified.
 *
 * Returns, every one: NOT_INITIALIZED, INVALID_ARG (also: a bad value of a key), OVERFLOW,
 * NOT_SUPPORTED, OUT_OF_MEM (so if there is no memory for one chunk), DEVICE, INTERNAL.
 */

/* Sends count of type at buf to the worker behind ep, as ucp_tag_send_nbx does. */
UCD_API int ucd_ucx_send_nbx(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, const void *buf,
                             uintptr_t count, ucd_type_t type, ucp_tag_t tag,
                             const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* Receives to count of type at buf a message whose tag is tag where tag_mask has ones, as
 * ucp_tag_recv_nbx does. Never complete on return. */
UCD_API int ucd_ucx_recv_nbx(ucd_ucx_pipeline_t pipeline, void *buf, uintptr_t count,
                             ucd_type_t type, ucp_tag_t tag, ucp_tag_t tag_mask,
                             const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

/* Sends count of type at buf, after header_length bytes of header, as an active message with a
 * number of the caller's, id. header is copied.
 * INVALID_ARG also: header is longer than the worker's max_am_header less 64. */
UCD_API int ucd_ucx_am_send_nbx(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, unsigned id,
                                const void *header, size_t header_length, const void *buf,
                                uintptr_t count, ucd_type_t type, const ucd_ucx_param_t *param,
                                ucd_ucx_request_t *request);

/* Called from ucd_ucx_progress for each active message. header is UCD's and holds until the return;
 * bytes is the size of what was sent, which data stands for: whoever is called, or later another,
 * ends data with ucd_ucx_am_recv_nbx or ucd_ucx_am_drop. reply_ep is as UCX gives it. */
typedef void (*ucd_ucx_am_callback_t)(void *arg, unsigned id, const void *header,
                                      size_t header_length, ucd_ucx_data_t data, uint64_t bytes,
                                      ucp_ep_h reply_ep);

/* Sets what is called for active messages of any id, in place of what was set before; with NULL, as
 * at first, they are dropped. Returns: INVALID_ARG. */
UCD_API int ucd_ucx_am_set_handler(ucd_ucx_pipeline_t pipeline, ucd_ucx_am_callback_t callback,
                                   void *arg);

/* Receives what data stands for to count of type at buf. data is ended, unless it fails. Never
 * complete on return. */
UCD_API int ucd_ucx_am_recv_nbx(ucd_ucx_pipeline_t pipeline, ucd_ucx_data_t data, void *buf,
                                uintptr_t count, ucd_type_t type, const ucd_ucx_param_t *param,
                                ucd_ucx_request_t *request);

/* Drops what data stands for, and ends data; the sender does not notice. Returns: INVALID_ARG. */
UCD_API int ucd_ucx_am_drop(ucd_ucx_pipeline_t pipeline, ucd_ucx_data_t data);

/* Stops a transfer, which will be complete with UCS_ERR_CANCELED as soon as UCX and devices no
 * longer use its memory, or with another status if it was too late. What is still to come for a
 * receive is dropped. A send begins no other chunk, and its receive ends with UCS_ERR_CANCELED too,
 * unless all of it had come; a message that is one UCP call cannot be stopped. A request that is
 * complete stays so. Returns: INVALID_ARG. */
UCD_API int ucd_ucx_cancel(ucd_ucx_pipeline_t pipeline, ucd_ucx_request_t request);

/* UCS_INPROGRESS, or how the transfer ended, with *result filled in unless result is NULL. If it
 * failed, ucd_ucx_last_error says more, as it does in the transfer's callback. NULL was complete
 * when it was started: UCS_OK, and a result without bytes. Makes no progress. */
UCD_API ucs_status_t ucd_ucx_request_check(ucd_ucx_request_t request, ucd_ucx_result_t *result);

/* Ends a request; if it is not complete, the transfer goes on and is completed as if it had not
 * been ended. NULL is ended already. */
UCD_API void ucd_ucx_request_free(ucd_ucx_request_t request);

/* Ends with status, which is an error, the transfers with the worker behind ep, and makes the
 * pipeline stop using ep. Call it before ep is closed, and from ep's error handler: a receive has
 * no endpoint that would fail, so nobody else can tell it that its sender is gone. What comes from
 * ep between this call and the close is ep's too: call it again when ep is closed, before another
 * endpoint is made. It may be called
 * where UCX calls back. Receives that no message has come for are not concerned. Returns:
 * INVALID_ARG, OUT_OF_MEM. */
UCD_API int ucd_ucx_lose_endpoint(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, ucs_status_t status);

#ifdef __cplusplus
}
#endif

#endif /* UCD_UCX_H_INCLUDED */
