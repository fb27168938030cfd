#include "wire.h"

#include "complain.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static bool ucx_ok(ucs_status_t status, const char *call) {
    return status == UCS_OK || complain("%s: %s", call, ucs_status_string(status));
}

/* Sets one of UCX's options, unless the user has done so in the environment. */
static bool configure(ucp_config_t *config, const char *name, const char *value) {
    char variable[64] = "UCX_";
    strncat(variable, name, sizeof variable - sizeof "UCX_");
    return getenv(variable) || ucx_ok(ucp_config_modify(config, name, value), variable);
}

/* UCX warns of a setting that none of its transports takes. */
static bool uses_shared_memory(void) {
    const char *transports = getenv("UCX_TLS");
    return !transports || strstr(transports, "sm") || strstr(transports, "shm") ||
           strstr(transports, "posix") || strstr(transports, "sysv");
}

static bool open_context(struct wire *wire) {
    ucp_config_t *config;
    if (!ucx_ok(ucp_config_read(NULL, NULL, &config), "ucp_config_read")) return false;
    /* All processes are on this machine: shared memory, and what UCX needs to set it up. Without
     * this, UCX opens every network device and warns of those that it cannot use.
     *
     * Pieces go by rendezvous: the receiver takes them from the sender's buffer, so a send is
     * complete when that was done. Below the threshold UCX copies them within the call that posts
     * them, and there would be nothing to pack at the same time. */
    bool good = configure(config, "TLS", "sm,self,tcp") && configure(config, "RNDV_THRESH", "16k");
    /* For wire_connect: UCX looks once in this time whether the others are there (20 s otherwise),
     * and does so over shared memory only if asked. With the 64 entries that a queue has otherwise,
     * that of a process that died may be full; then UCX sometimes tells nobody. */
    good = good && configure(config, "KEEPALIVE_INTERVAL", "1s") &&
           (!uses_shared_memory() || (configure(config, "MM_ERROR_HANDLING", "y") &&
                                      configure(config, "MM_FIFO_SIZE", "4096")));
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
        .features = UCP_FEATURE_TAG | UCP_FEATURE_AM, /* the latter for libucd-ucx */
        .estimated_num_eps = (size_t)wire->team->size,
    };
    good = good && ucx_ok(ucp_init(&params, config, &wire->context), "ucp_init");
    ucp_config_release(config);
    return good;
}

static bool publish_address(struct wire *wire) {
    struct team_member *self = &wire->team->members[wire->rank];
    ucp_address_t *address;
    size_t bytes;
    if (!ucx_ok(ucp_worker_get_address(wire->worker, &address, &bytes), "ucp_worker_get_address"))
        return false;
    bool fits = bytes <= sizeof self->address;
    if (fits) {
        memcpy(self->address, address, bytes);
        self->address_bytes = bytes;
    }
    ucp_worker_release_address(wire->worker, address);
    return fits || complain("UCX's address has %zu bytes; there is room for %zu", bytes,
                            sizeof self->address);
}

bool wire_open(struct wire *wire, struct team *team, int rank) {
    *wire = (struct wire){.team = team, .rank = rank, .status = UCS_OK};
    wire->endpoints = calloc((size_t)team->size, sizeof *wire->endpoints);
    if (!wire->endpoints) return complain("no memory for %d endpoints", team->size);

    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    if (!open_context(wire) ||
        !ucx_ok(ucp_worker_create(wire->context, &params, &wire->worker), "ucp_worker_create") ||
        !publish_address(wire))
        return false;
    wire_barrier(wire); /* now all addresses are there */
    return true;
}

/* The process behind the endpoint is lost. Nothing that it was to send will come, and a receive
 * would wait for it for ever: so this process has failed, too. */
static void on_lost(void *argument, ucp_ep_h endpoint, ucs_status_t status) {
    struct wire *wire = argument;
    if (wire->status == UCS_OK) wire->status = status;
    if (wire->lost) wire->lost(endpoint, status, wire->lost_argument);
}

bool wire_connect(struct wire *wire, int rank) {
    if (wire->endpoints[rank]) return true;
    /* UCX tells of a process that died only in this mode. Otherwise those that wait for it wait for
     * ever, and UCX ends with abort() those that read its memory at that moment. */
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *)wire->team->members[rank].address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_lost, .arg = wire},
    };
    ucs_status_t status = ucp_ep_create(wire->worker, &params, &wire->endpoints[rank]);
    if (status == UCS_ERR_UNREACHABLE) { /* the transports that the user chose have no such mode */
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        status = ucp_ep_create(wire->worker, &params, &wire->endpoints[rank]);
    }
    return ucx_ok(status, "ucp_ep_create");
}

static void finish(struct wire_operation *operation, ucs_status_t status) {
    struct wire *wire = operation->wire;
    if (status != UCS_OK && wire->status == UCS_OK) wire->status = status;
    operation->done(operation->argument);
}

static void on_sent(void *request, ucs_status_t status, void *operation) {
    ucp_request_free(request);
    finish(operation, status);
}

static void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                        void *argument) {
    struct wire_operation *operation = argument;
    if (status == UCS_OK && info->length != operation->bytes) status = UCS_ERR_MESSAGE_TRUNCATED;
    ucp_request_free(request);
    finish(operation, status);
}

static bool post(struct wire *wire, int to, uint64_t tag, const void *buffer, size_t count,
                 ucp_datatype_t datatype, struct wire_operation *operation) {
    ucp_request_param_t params = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE,
        .cb.send = on_sent,
        .user_data = operation,
        .datatype = datatype,
    };
    operation->wire = wire;
    ucs_status_ptr_t request = ucp_tag_send_nbx(wire->endpoints[to], buffer, count, tag, &params);
    if (UCS_PTR_IS_ERR(request)) return ucx_ok(UCS_PTR_STATUS(request), "ucp_tag_send_nbx");
    if (!request) finish(operation, UCS_OK); /* done already: then UCX calls no callback */
    return true;
}

bool wire_send(struct wire *wire, int to, uint64_t tag, const void *buffer, size_t bytes,
               struct wire_operation *operation) {
    return post(wire, to, tag, buffer, bytes, ucp_dt_make_contig(1), operation);
}

bool wire_send_iov(struct wire *wire, int to, uint64_t tag, const ucp_dt_iov_t *iov, size_t count,
                   struct wire_operation *operation) {
    return post(wire, to, tag, iov, count, ucp_dt_make_iov(), operation);
}

bool wire_receive(struct wire *wire, uint64_t tag, void *buffer, size_t bytes,
                  struct wire_operation *operation) {
    /* Always by the callback: of a receive that is complete at once, UCX before 1.16 does not tell
     * the length (its issue 9425). */
    ucp_request_param_t params = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv = on_received,
        .user_data = operation,
    };
    operation->wire = wire;
    operation->bytes = bytes;
    ucs_status_ptr_t request =
        ucp_tag_recv_nbx(wire->worker, buffer, bytes, tag, UINT64_MAX, &params);
    return !UCS_PTR_IS_ERR(request) || ucx_ok(UCS_PTR_STATUS(request), "ucp_tag_recv_nbx");
}

bool wire_ok(const struct wire *wire) {
    return ucx_ok(wire->status, "a message between processes");
}

bool wire_progress(struct wire *wire, bool *moved) {
    if (ucp_worker_progress(wire->worker) != 0) *moved = true;
    return wire_ok(wire);
}

static void progress_worker(void *worker) {
    ucp_worker_progress((ucp_worker_h)worker);
}

void wire_barrier(struct wire *wire) {
    team_barrier(wire->team, progress_worker, wire->worker);
}

/* Waits for what one of UCX's calls has started, if it has. */
static bool wait_for(struct wire *wire, ucs_status_ptr_t request, const char *call) {
    ucs_status_t status = UCS_PTR_STATUS(request);
    if (UCS_PTR_IS_PTR(request)) {
        while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
            if (ucp_worker_progress(wire->worker) == 0) sched_yield();
        ucp_request_free(request);
    }
    return ucx_ok(status, call);
}

bool wire_ready(struct wire *wire) {
    const ucp_request_param_t params = {0};
    for (int rank = 0; rank < wire->team->size; rank++)
        if (wire->endpoints[rank] &&
            !wait_for(wire, ucp_ep_flush_nbx(wire->endpoints[rank], &params), "ucp_ep_flush_nbx"))
            return false;
    wire_barrier(wire);
    return true;
}

/* Ends the endpoints, with all that is still to be said to the other side. */
static bool disconnect(struct wire *wire) {
    const ucp_request_param_t params = {0};
    for (int rank = 0; rank < wire->team->size; rank++) {
        ucp_ep_h endpoint = wire->endpoints[rank];
        wire->endpoints[rank] = NULL;
        if (endpoint && !wait_for(wire, ucp_ep_close_nbx(endpoint, &params), "ucp_ep_close_nbx"))
            return false;
    }
    return true;
}

bool wire_close(struct wire *wire) {
    /* An endpoint can only be closed while the other side's worker makes progress. */
    wire_barrier(wire);
    if (!disconnect(wire)) return false;
    wire_barrier(wire);
    ucp_worker_destroy(wire->worker);
    ucp_cleanup(wire->context);
    free(wire->endpoints);
    *wire = (struct wire){0};
    return true;
}
