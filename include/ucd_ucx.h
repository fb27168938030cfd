/*
 * ucd_ucx.h - libucd-ucx: UCD's types in UCX's calls, and transfers that overlap packing, sending
 * and unpacking.
 *
 * There are two ways to send data of a ucd_type_t with UCP. Either a UCP call moves it:
 * ucd_ucx_prepare and ucd_ucx_datatype give the buffer, count and datatype that the call needs. Or
 * this library moves it, by an object over the program's worker: ucd_ucx_send_nbx and
 * ucd_ucx_am_send_nbx cut the packed stream into chunks, and pack and unpack some chunks while
 * others are on the network, from and to host and device memory, whether UCX was built with GPU
 * support or not. The same object has the one-sided operations of ucd_ucx_rma.h.
 *
 * share/doc/ucd/guide/ucx.md is a guide with examples. The conventions of ucd.h hold: units, null
 * rules, ownership, struct_size. This header adds:
 *
 * Statuses    Functions return UCD_SUCCESS or a UCD_ERR__*, as ucd.h says; NOT_INITIALIZED if
 *             ucd_init was not called. If UCX refuses something, its status becomes OUT_OF_MEM
 *             (UCS_ERR_NO_MEMORY), NOT_SUPPORTED (UCS_ERR_UNSUPPORTED), INVALID_ARG
 *             (UCS_ERR_INVALID_PARAM) or DEVICE (any other). The result of a transfer is a
 *             ucs_status_t, since most failures come from UCX.
 * Failure     A function that fails to start something has changed nothing.
 * Threads     As the worker's thread mode (ucp_worker_query). With UCS_THREAD_MODE_MULTI any thread
 *             may call any function at any time. Otherwise the functions of one object are called
 *             by one thread at a time, the one that may use the worker. Datatypes belong to no
 *             worker; any thread may call their functions. UCX calls a datatype's callbacks in the
 *             thread that makes progress.
 * Blocking    No function waits for a peer. Work on host memory is done in the calling thread.
 */
#ifndef UCD_UCX_H_INCLUDED
#define UCD_UCX_H_INCLUDED

#include <ucd.h>
#include <ucp/api/ucp.h>

/* As UCD_API in ucd.h. */
#ifdef UCD_UCX_HIDDEN
#define UCD_UCX_API __attribute__((visibility("hidden")))
#else
#define UCD_UCX_API UCD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread's last failure in a function of this header or of ucd_ucx_rma.h, as a
 * sentence. ucd_last_error does not report those. Never NULL. */
UCD_UCX_API const char *ucd_ucx_last_error(void);

/* ---------------------------------------------------------------------------------------------- */
/* Types for UCP's calls                                                                          */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Creates a generic UCP datatype for type. UCX packs and unpacks it in fragments of any length, at
 * any offset and in any order; no fragment allocates memory. The datatype can be used with any
 * buffer and count, by any number of operations at a time, and with any worker of this process.
 * type and info may be freed at once. The hint ucd.inbuf is about buffers that are sent, ucd.outbuf
 * about buffers that are received.
 *
 * A generic datatype cannot tell UCX that packing failed. If packing fails, the message keeps its
 * length, the bytes that were not packed are zeros, and ucd_ucx_status returns the failure. If
 * unpacking fails, the UCX operation fails too.
 *
 * The caller frees *ucp_dt with ucd_ucx_release when no operation uses it.
 * Returns: NOT_INITIALIZED, INVALID_ARG, OUT_OF_MEM, INTERNAL. Rule: ucp_dt_create_generic. */
UCD_UCX_API int ucd_ucx_datatype(ucd_type_t type, ucd_info_t info, ucp_datatype_t *ucp_dt);

/* Gives the buffer, count and datatype that a UCP call needs to send or receive (buf, count, type).
 * Depending on the layout, that is
 *
 *   contiguous   for one segment of host memory: its address, its number of bytes, and
 *                ucp_dt_make_contig(1)
 *   iov          for a few large segments of host memory: an array of ucp_dt_iov_t
 *   generic      for everything else, device memory included: buf, count, and a datatype as that
 *                of ucd_ucx_datatype
 *
 * The key ucd.ucx.form (auto, contiguous, iov, generic; default auto) chooses the form:
 * NOT_SUPPORTED if the layout does not have it. contiguous and iov may be chosen for device memory
 * too, if UCX was built with support for that device. auto decides by ucd_get_advice (ucd.h) with
 * these limits: it chooses iov if segments have at least ucd.ucx.iov_segment bytes on average
 * (default 3 KiB). ucd.ucx.iov_entries is the largest number of segments of an iov (default and
 * maximum 2^20), also if ucd.ucx.form is iov. UCX takes any number: it cuts a list into operations
 * of at most 16 segments, or as many as the transport takes.
 *
 * The caller frees datatype and array with ucd_ucx_release when no operation uses them. The buffer
 * itself stays the caller's. type and info may be freed at once.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: a bad value of a key above), OVERFLOW,
 * NOT_SUPPORTED, OUT_OF_MEM, INTERNAL. */
UCD_UCX_API int ucd_ucx_prepare(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                                void **ucp_buf, size_t *ucp_count, ucp_datatype_t *ucp_dt);

/* The first failure in the callbacks of a generic datatype since the last call of this function;
 * ucd_ucx_last_error then describes it. UCD_SUCCESS if there was none, and for any other datatype.
 * Call it when the operations are complete.
 * Returns also the failures of ucd_pack and ucd_unpack: NOT_SUPPORTED, OUT_OF_MEM, DEVICE, INTERNAL
 * and others. */
UCD_UCX_API int ucd_ucx_status(ucp_datatype_t ucp_dt);

/* Frees what ucd_ucx_prepare returned, or, with ucp_buf NULL, what ucd_ucx_datatype returned. May
 * be called after the last ucd_finalize. Returns: INVALID_ARG (a generic datatype that is not of
 * this library); or as ucd_ucx_status, in which case everything is freed too. */
UCD_UCX_API int ucd_ucx_release(void *ucp_buf, ucp_datatype_t ucp_dt);

/* ---------------------------------------------------------------------------------------------- */
/* Objects                                                                                        */
/* ---------------------------------------------------------------------------------------------- */

typedef struct ucd_ucx_object *ucd_ucx_t;
typedef struct ucd_ucx_request *ucd_ucx_request_t;
typedef struct ucd_ucx_data *ucd_ucx_data_t;

#define UCD_UCX__NULL ((ucd_ucx_t)0)
#define UCD_UCX_REQUEST__NULL ((ucd_ucx_request_t)0)

/* The families of functions that a program asks for when it creates an object. The functions of one
 * that it does not ask for are INVALID_ARG, and its messages are dropped. One-sided operations take
 * no memory if they are not asked for. */
enum {
    UCD_UCX_TRANSFERS = 1, /* the functions of this header */
    UCD_UCX_ONE_SIDED = 2  /* the functions of ucd_ucx_rma.h */
};

/* What happened to the chunk that covers bytes [offset, offset + bytes) of a transfer. Chunks that
 * UCX packs or unpacks have no events of packing or unpacking. */
enum {
    UCD_UCX_EVENT__PACK_BEGIN = 0,
    UCD_UCX_EVENT__PACK_END,
    UCD_UCX_EVENT__POST, /* given to UCX */
    UCD_UCX_EVENT__SENT, /* UCX has completed the send */
    UCD_UCX_EVENT__RECEIVED,
    UCD_UCX_EVENT__UNPACK_BEGIN,
    UCD_UCX_EVENT__UNPACK_END,
    UCD_UCX_EVENT__SHARE /* before POST: the receiver reads it from the sender's memory */
};
typedef struct {
    int what;        /* UCD_UCX_EVENT__* */
    uint64_t sender; /* sender and number identify the transfer, with the same values on both
                      * sides; sender differs for each endpoint */
    uint64_t number;
    uint64_t offset, bytes;
} ucd_ucx_event_t;

typedef struct {
    uint32_t struct_size; /* see Conventions in ucd.h */
    uint16_t am_id;       /* the worker's active message id that the object uses for itself; the
                           * same at its peers */
    uint16_t families;    /* UCD_UCX_TRANSFERS, UCD_UCX_ONE_SIDED, or both, joined by | */
    /* Optional. Allocate and free host memory for chunks. Without them, chunks are allocated by
     * malloc, and for data in device memory as pinned memory. allocate returns NULL if it fails.
     * Set both or neither. */
    void *(*allocate)(size_t bytes, void *memory_arg);
    void (*release)(void *memory, size_t bytes, void *memory_arg);
    void *memory_arg;
    /* Optional. Called for each event of a transfer from within functions of the object, one call
     * at a time. It must not call any of them. */
    void (*trace)(const ucd_ucx_event_t *event, void *trace_arg);
    void *trace_arg;
    /* Optional. Called from ucd_ucx_progress when a transfer or an operation has exceeded
     * ucd.ucx.timeout but UCX still uses its buffer, which UCX may do as long as the endpoint is
     * open. The program may then call ucd_ucx_lose_endpoint and close ep by force
     * (UCP_EP_CLOSE_FLAG_FORCE), which ends all that is under way on ep. Called at most once for
     * each of them. It may call what a ucd_ucx_callback_t may call. */
    void (*unresponsive)(ucp_ep_h ep, void *unresponsive_arg);
    void *unresponsive_arg;
} ucd_ucx_params_t;

/* Creates an object on a worker, whose context needs UCP_FEATURE_TAG and UCP_FEATURE_AM. What it
 * sends goes to an object with the same am_id and family, usually of another worker. One object has
 * all that a worker needs; several on one worker need different am_ids. These keys can be set in
 * info here, as defaults for all transfers and operations, and in the info of one:
 *
 *   ucd.ucx.eager    messages of at most this many bytes (at most 1 GiB) are one UCP call, without
 *                    chunks
 *   ucd.ucx.chunk    bytes of a chunk, 1 to 1 GiB
 *   ucd.ucx.pack     who packs and unpacks larger messages of host memory: chunk: the library, in
 *                    memory for chunks; ucx: callbacks that UCX calls for each fragment; auto: ucx
 *                    over shared memory, else chunk
 *   ucd.ucx.depth    chunks of a transfer that are under way at a time, 1 to 1024
 *   ucd.ucx.staging  only here: bytes of memory for chunks on the host, and the same again for the
 *                    data of each device. Every transfer always gets one chunk, so no transfer
 *                    waits for another.
 *
 *   ucd.ucx.timeout  seconds, with a fraction if wanted. If nothing of a transfer moves for this
 *                    long, it ends with UCS_ERR_TIMED_OUT. 0, the default, means no limit. For a
 *                    receive, time starts when it has matched a message. The transfer is complete
 *                    when UCX no longer uses the buffer: see unresponsive above.
 *
 *   ucd.ucx.peer_memory, ucd.ucx.peers_memory
 *                    only here: bytes that messages from one endpoint, and from all endpoints, may
 *                    occupy before receives take them (defaults 256 MiB and 1 GiB, at least
 *                    1 MiB). When a limit is exceeded, the endpoint that occupies most is barred:
 *                    its transfers end with UCS_ERR_EXCEEDS_LIMIT, and its messages are dropped
 *                    until ucd_ucx_lose_endpoint. See share/doc/ucd/guide/security.md.
 *
 * In every function that takes an info, a key that begins with ucd.ucx. but is not one of this
 * header or of ucd_ucx_rma.h is INVALID_ARG.
 *
 * Between the memories of devices in one machine, chunks can stay in device memory that the
 * receiver opens, if drivers and devices support it (see share/doc/ucd/guide/ucx-ways.md):
 *
 *   ucd.ucx.ring          auto; none: do not use it. Either side may say none
 *   ucd.ucx.ring_chunk    bytes of a chunk in device memory, 1 to 1 GiB
 *   ucd.ucx.ring_depth    such chunks of a transfer that are under way at a time, 1 to 1024
 *   ucd.ucx.ring_expose   yes: the receiver opens contiguous data where it is, and may keep it open
 *                         after the transfer; no: the data is copied to a chunk first
 *   ucd.ucx.ring_staging  only here: bytes of memory for chunks on each device; every transfer
 *                         always gets one chunk
 *
 * Between processes of one user on one machine, a receiver can read its sender's data where it is,
 * layout to layout, in device memory and in memory of ucd_ucx_window_allocate, if both sides trust
 * the other (see share/doc/ucd/guide/ucx-ways.md). These keys have no effect on other host memory:
 *
 *   ucd.ucx.direct        no: never; yes: where it is faster; always: wherever it is possible. yes
 *                         and always say that the peers are trusted. For a transfer, they have no
 *                         effect if the object was created with no
 *   ucd.ucx.direct_bytes  messages of fewer bytes are sent in other ways, except with always
 *
 * For one-sided operations there are ucd.ucx.rma.types and ucd.ucx.rma.peer_operations, and some of
 * the keys above mean more: see ucd_ucx_rma.h.
 *
 * The defaults are in share/doc/ucd/reference/keys-and-environment.md. params and info are read
 * during the call.
 *
 * Order of the end: the program destroys the object's windows, then the object
 * (ucd_ucx_destroy), and then the worker. Each function refuses what comes too early, but for the
 * worker's, which is UCX's. The object keeps libucd initialised, so ucd_finalize may be called
 * before it is destroyed.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: a bad value of a key; allocate without release;
 * families names none, or one that there is not; another object of this worker has am_id),
 * NOT_SUPPORTED, DEVICE (both if UCX refuses), OUT_OF_MEM, INTERNAL. */
UCD_UCX_API int ucd_ucx_create(ucp_worker_h worker, const ucd_ucx_params_t *params, ucd_info_t info,
                               ucd_ucx_t *ucx);

/* Frees *ucx (Ownership in ucd.h). Messages that no receive has taken are dropped. Callbacks that
 * ucd_ucx_progress has not called yet are never called. Requests stay until they are freed.
 * Returns: INVALID_ARG (also: a transfer or an operation is not complete, a window exists, or an
 * answer to another process is not sent yet, in which cases nothing changes). */
UCD_UCX_API int ucd_ucx_destroy(ucd_ucx_t *ucx);

/* Progresses the worker (it calls ucp_worker_progress), the object's transfers and operations, and
 * those of other processes on its windows; and calls the callbacks of what is complete. Call it in
 * place of ucp_worker_progress, but not from a callback of UCX or of this library. Returns a
 * nonzero number if something moved, else 0; not a status. After a 0 the program may sleep until
 * the worker has an event (ucp_worker_arm). If the worker has several objects, make progress with
 * each: the program may sleep after a round in which all returned 0. No event tells that a device
 * has packed or unpacked data, that a time limit has passed, or, with ucd.ucx.direct, that the
 * other process has ended. With NULL, returns 0. */
UCD_UCX_API unsigned ucd_ucx_progress(ucd_ucx_t ucx);

/* Ends all transfers with the worker behind ep, and all operations on its windows, with status,
 * which must be an error; drops its operations that are not complete here; and makes the object
 * stop using ep. Call it before ep is closed, and from ep's error handler: UCX reports the failure
 * of an endpoint, but a receive has no endpoint, and a target's window may wait for an origin that
 * has died, so only the program can tell. Messages may arrive from ep between this call and the
 * close; so call it once more when ep is closed, before another endpoint is created. Everything
 * becomes complete in ucd_ucx_progress, when UCX no longer uses its memory. It may be called from
 * callbacks of UCX. With several threads, close ep only when no other thread is in a call that uses
 * it. Receives that have not matched a message are not affected.
 * Returns: INVALID_ARG, OUT_OF_MEM. */
UCD_UCX_API int ucd_ucx_lose_endpoint(ucd_ucx_t ucx, ucp_ep_h ep, ucs_status_t status);

/* ---------------------------------------------------------------------------------------------- */
/* Requests and results                                                                           */
/* ---------------------------------------------------------------------------------------------- */

/* The result of a transfer or an operation. share/doc/ucd/reference/errors.md says when each status
 * occurs. */
typedef struct {
    uint32_t struct_size; /* see Conventions in ucd.h; in callbacks, libucd-ucx has set it */
    ucs_status_t status;  /* UCS_OK; UCS_ERR_CANCELED: by either side; UCS_ERR_MESSAGE_TRUNCATED;
                           * UCS_ERR_NO_MEMORY; UCS_ERR_IO_ERROR: packing or unpacking failed, see
                           * ucd; UCS_ERR_INVALID_PARAM: the message is not of this library, or
                           * violates its protocol; UCS_ERR_UNSUPPORTED: the sender uses
                           * another version of the protocol, or its machine has the other byte
                           * order; UCS_ERR_TIMED_OUT; UCS_ERR_EXCEEDS_LIMIT: the endpoint is
                           * barred; or a status of UCX */
    int ucd;              /* the UCD_ERR__* of packing or unpacking, or UCD_SUCCESS */
    uint64_t bytes;       /* length of the message; 0 if the transfer failed */
    ucp_tag_t tag;        /* tag of a received tagged message */
} ucd_ucx_result_t;

/* Called from ucd_ucx_progress when a transfer is complete; not called if the transfer was complete
 * when the call that started it returned. It may start and cancel transfers and free requests, but
 * must not make progress. */
typedef void (*ucd_ucx_callback_t)(ucd_ucx_request_t request, const ucd_ucx_result_t *result,
                                   void *user_data);

typedef struct {
    uint32_t struct_size;        /* see Conventions in ucd.h */
    ucd_info_t info;             /* hints and keys; UCD_INFO__NULL for none */
    ucd_ucx_callback_t callback; /* or NULL */
    void *user_data;
} ucd_ucx_param_t;

/* Cancels a transfer; an operation of ucd_ucx_rma.h goes on. A cancelled transfer completes with
 * UCS_ERR_CANCELED when UCX and devices no longer use its memory; with another status, if it was
 * too late to cancel. If it is a receive, the rest of the message is dropped, also if its sender
 * has ended. If it is a send, no further chunk is sent, and its receive ends with UCS_ERR_CANCELED
 * too, unless it has the whole message already. A send that is one UCP call cannot be stopped. A
 * request that is complete does not change. Returns: INVALID_ARG. */
UCD_UCX_API int ucd_ucx_cancel(ucd_ucx_t ucx, ucd_ucx_request_t request);

/* Returns UCS_INPROGRESS, or the final status of a transfer or an operation; then *result is filled
 * in, unless result is NULL. If it failed, ucd_ucx_last_error describes why, here as in its
 * callback. For UCD_UCX_REQUEST__NULL returns UCS_OK, with 0 bytes in the result. If
 * result's struct_size is less than 4, returns UCS_ERR_INVALID_PARAM at once. Makes no progress. */
UCD_UCX_API ucs_status_t ucd_ucx_request_check(ucd_ucx_request_t request, ucd_ucx_result_t *result);

/* Frees a request. What is not complete goes on, and its callback is called as usual.
 * NULL is allowed. */
UCD_UCX_API void ucd_ucx_request_free(ucd_ucx_request_t request);

/* ---------------------------------------------------------------------------------------------- */
/* Transfers                                                                                      */
/* ---------------------------------------------------------------------------------------------- */

/*
 * Rules for the four functions that start a transfer.
 *
 * Matching   As ucp_tag_send_nbx and ucp_tag_recv_nbx match, in the order of the calls. Tagged
 *            sends match tagged receives, and active messages match ucd_ucx_am_recv_nbx. Sender and
 *            receiver may use different types: bytes match by their place in the packed streams
 *            (MPI 3.3.1).
 * Memory     Host or device, as for ucd_pack and ucd_unpack. The hint ucd.inbuf is about a buffer
 *            that is sent, ucd.outbuf about a buffer that is received into.
 * Ownership  Until the transfer is complete, the caller must not change a buffer that is sent, nor
 *            read or write a buffer that is received into. Type and info may be freed at once.
 *            *request is UCD_UCX_REQUEST__NULL if the transfer was complete on return; otherwise
 *            the caller frees it with ucd_ucx_request_free. param may be NULL.
 * Truncation If a message is longer than its receive, the receive ends with
 *            UCS_ERR_MESSAGE_TRUNCATED and the content of the buffer is unspecified. The sender
 *            completes normally.
 *
 * Returns, every one: NOT_INITIALIZED, INVALID_ARG (also: a bad value of a key), OVERFLOW,
 * NOT_SUPPORTED, OUT_OF_MEM (also: no memory for one chunk), DEVICE, INTERNAL.
 */

/* Sends count of type at buf to the worker behind ep, as ucp_tag_send_nbx does. */
UCD_UCX_API int ucd_ucx_send_nbx(ucd_ucx_t ucx, ucp_ep_h ep, const void *buf, uintptr_t count,
                                 ucd_type_t type, ucp_tag_t tag, const ucd_ucx_param_t *param,
                                 ucd_ucx_request_t *request);

/* Receives a message into count of type at buf. The message's tag must equal tag in all bits that
 * are 1 in tag_mask, as in ucp_tag_recv_nbx. Never complete on return. */
UCD_UCX_API int ucd_ucx_recv_nbx(ucd_ucx_t ucx, void *buf, uintptr_t count, ucd_type_t type,
                                 ucp_tag_t tag, ucp_tag_t tag_mask, const ucd_ucx_param_t *param,
                                 ucd_ucx_request_t *request);

/* Sends count of type at buf as an active message, with a header of header_length bytes. id is a
 * number of 1 or more that the caller chooses; the receiver's handler gets it. header is copied.
 * INVALID_ARG also: header is longer than the worker's max_am_header (ucp_worker_query) less 64. */
UCD_UCX_API int ucd_ucx_am_send_nbx(ucd_ucx_t ucx, ucp_ep_h ep, unsigned id, const void *header,
                                    size_t header_length, const void *buf, uintptr_t count,
                                    ucd_type_t type, const ucd_ucx_param_t *param,
                                    ucd_ucx_request_t *request);

/* Called from ucd_ucx_progress for each active message. header is valid until the return. data
 * stands for the message's data, of bytes bytes, which may not have arrived yet: for each message
 * the program calls ucd_ucx_am_recv_nbx or ucd_ucx_am_drop with it once, in the handler or later.
 * reply_ep is the endpoint that UCX gives for replies, or NULL if it was lost meanwhile. */
typedef void (*ucd_ucx_am_callback_t)(void *arg, unsigned id, const void *header,
                                      size_t header_length, ucd_ucx_data_t data, uint64_t bytes,
                                      ucp_ep_h reply_ep);

/* Sets the handler of active messages of all ids, or replaces it. While it is NULL, as it is at
 * first, active messages are dropped. Returns: INVALID_ARG. */
UCD_UCX_API int ucd_ucx_am_set_handler(ucd_ucx_t ucx, ucd_ucx_am_callback_t callback, void *arg);

/* Receives the data of an active message into count of type at buf. data cannot be used again,
 * unless the call fails. Never complete on return. */
UCD_UCX_API int ucd_ucx_am_recv_nbx(ucd_ucx_t ucx, ucd_ucx_data_t data, void *buf, uintptr_t count,
                                    ucd_type_t type, const ucd_ucx_param_t *param,
                                    ucd_ucx_request_t *request);

/* Drops the data of an active message. data cannot be used again. The sender completes normally.
 * Returns: INVALID_ARG. */
UCD_UCX_API int ucd_ucx_am_drop(ucd_ucx_t ucx, ucd_ucx_data_t data);

#ifdef __cplusplus
}
#endif

#endif /* UCD_UCX_H_INCLUDED */
