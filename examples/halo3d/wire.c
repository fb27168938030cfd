#include "wire.h"

#include "../fail.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A new file, and so this, is zeros. */
struct team {
    atomic_int arrived; /* how many processes have come to a barrier, all barriers together */
    struct {
        size_t bytes;
        unsigned char text[16384];
    } addresses[]; /* of the workers, by rank */
};

static size_t team_bytes(int processes) {
    return sizeof(struct team) + (size_t)processes * sizeof(((struct team *)0)->addresses[0]);
}

static struct team *join(const char *path, int processes) {
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, (off_t)team_bytes(processes)) != 0)
        fail("--team: %s: cannot make it: %s", path, strerror(errno));
    struct team *team =
        mmap(NULL, team_bytes(processes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (team == MAP_FAILED) fail("--team: %s: cannot map it: %s", path, strerror(errno));
    close(file);
    return team;
}

static void publish_address(struct wire *wire) {
    ucp_address_t *address;
    size_t bytes;
    ucx(ucp_worker_get_address(wire->worker, &address, &bytes), "ucp_worker_get_address");
    if (bytes > sizeof wire->team->addresses[0].text)
        fail("UCX's address has %zu bytes, and there is no room for them", bytes);
    memcpy(wire->team->addresses[wire->rank].text, address, bytes);
    wire->team->addresses[wire->rank].bytes = bytes;
    ucp_worker_release_address(wire->worker, address);
}

void wire_open(struct wire *wire, const struct options *options) {
    const int processes = options->processes;
    *wire = (struct wire){.team = join(options->team, processes),
                          .rank = options->rank,
                          .processes = processes,
                          .patience_seconds = options->patience_seconds};
    wire->endpoints = allocated(calloc((size_t)processes, sizeof(ucp_ep_h)));
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
        .features = UCP_FEATURE_TAG | UCP_FEATURE_AM,
        .estimated_num_eps = (size_t)processes,
    };
    ucx(ucp_init(&params, NULL, &wire->context), "ucp_init");
    const ucp_worker_params_t worker_params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    ucx(ucp_worker_create(wire->context, &worker_params, &wire->worker), "ucp_worker_create");
    publish_address(wire);
    wire_barrier(wire); /* now all addresses are there */
}

/* The process behind an endpoint is lost. What it was to send never comes, so this one ends, too. A
 * program that goes on without it does as examples/ucx/guide.c. */
static void on_lost(void *argument, ucp_ep_h endpoint, ucs_status_t status) {
    const struct wire *wire = argument;
    (void)endpoint;
    if (!wire->closing) fail("a neighbour is lost: %s", ucs_status_string(status));
}

void wire_connect(struct wire *wire, int rank) {
    if (wire->endpoints[rank] != NULL) return;
    /* UCX tells of a process that died only in this mode. Otherwise those that wait for it wait for
     * ever, and UCX ends with abort() those that read its memory at that moment. */
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *)wire->team->addresses[rank].text,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_lost, .arg = wire},
    };
    ucx(ucp_ep_create(wire->worker, &params, &wire->endpoints[rank]), "ucp_ep_create");
}

void wire_progress(struct wire *wire, uint64_t since_ns) {
    const unsigned moved = wire->object == UCD_UCX__NULL ? ucp_worker_progress(wire->worker)
                                                         : ucd_ucx_progress(wire->object);
    if (moved != 0) return;
    if (now_ns() - since_ns > (uint64_t)wire->patience_seconds * 1000000000)
        fail("the other processes have not answered for %d s", wire->patience_seconds);
    sched_yield(); /* there may be more processes than cores */
}

void wire_barrier(struct wire *wire) {
    const uint64_t start = now_ns();
    const int before = atomic_fetch_add(&wire->team->arrived, 1);
    const int all = (before / wire->processes + 1) * wire->processes;
    while (atomic_load(&wire->team->arrived) < all) wire_progress(wire, start);
}

/* Waits for what one of UCX's calls has started, if it has. */
static void finish(struct wire *wire, ucs_status_ptr_t request, const char *call) {
    const uint64_t start = now_ns();
    if (!UCS_PTR_IS_PTR(request)) {
        ucx(UCS_PTR_STATUS(request), call);
        return;
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) wire_progress(wire, start);
    ucx(ucp_request_check_status(request), call);
    ucp_request_free(request);
}

void wire_ready(struct wire *wire) {
    const ucp_request_param_t params = {0};
    for (int rank = 0; rank < wire->processes; rank++)
        if (wire->endpoints[rank] != NULL)
            finish(wire, ucp_ep_flush_nbx(wire->endpoints[rank], &params), "ucp_ep_flush_nbx");
    wire_barrier(wire);
}

static void disconnect(struct wire *wire, ucp_ep_h endpoint) {
    const ucp_request_param_t params = {0};
    ucd_ucx(ucd_ucx_lose_endpoint(wire->object, endpoint, UCS_ERR_CANCELED));
    finish(wire, ucp_ep_close_nbx(endpoint, &params), "ucp_ep_close_nbx");
}

void wire_close(struct wire *wire) {
    /* An endpoint can only be closed while the other side's worker makes progress. */
    wire_barrier(wire);
    wire->closing = true;
    for (int rank = 0; rank < wire->processes; rank++)
        if (wire->endpoints[rank] != NULL) disconnect(wire, wire->endpoints[rank]);
    wire_barrier(wire);
    ucd_ucx(ucd_ucx_destroy(&wire->object));
    ucp_worker_destroy(wire->worker);
    ucp_cleanup(wire->context);
    free(wire->endpoints);
    munmap(wire->team, team_bytes(wire->processes)); /* cannot fail for our own range */
}
