#include "wire.h"

#include "../fail.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static void on_event(const ucd_ucx_event_t *event, void *argument) {
    struct wire *wire = argument;
    wire->chunks += event->what == UCD_UCX_EVENT__POST;
    wire->packed_chunks += event->what == UCD_UCX_EVENT__PACK_BEGIN;
    wire->shared_chunks += event->what == UCD_UCX_EVENT__SHARE;
}

static void open_worker(struct wire *wire) {
    ucp_config_t *config;
    ucx(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
    /* Both processes are on this machine: shared memory, and what UCX needs to set it up. */
    if (getenv("UCX_TLS") == NULL)
        ucx(ucp_config_modify(config, "TLS", "sm,self,tcp"), "ucp_config_modify");
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features = UCP_FEATURE_TAG | UCP_FEATURE_AM,
    };
    ucx(ucp_init(&params, config, &wire->context), "ucp_init");
    ucp_config_release(config);
    const ucp_worker_params_t worker_params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    ucx(ucp_worker_create(wire->context, &worker_params, &wire->worker), "ucp_worker_create");
}

static void publish_address(struct wire *wire) {
    ucp_address_t *address;
    size_t bytes;
    ucx(ucp_worker_get_address(wire->worker, &address, &bytes), "ucp_worker_get_address");
    if (bytes > sizeof wire->shared->addresses[0].text)
        fail("UCX's address has %zu bytes, and there is no room for them", bytes);
    memcpy(wire->shared->addresses[wire->rank].text, address, bytes);
    wire->shared->addresses[wire->rank].bytes = bytes;
    ucp_worker_release_address(wire->worker, address);
}

void wire_open(struct wire *wire, struct shared *shared, int rank) {
    *wire = (struct wire){.shared = shared, .rank = rank};
    open_worker(wire);
    publish_address(wire);
    wire_barrier(wire);
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address = (const ucp_address_t *)shared->addresses[1 - rank].text,
    };
    ucx(ucp_ep_create(wire->worker, &params, &wire->ep), "ucp_ep_create");
    const ucd_ucx_params_t object_params = {
        .struct_size = sizeof object_params,
        .am_id = 1,
        .families = UCD_UCX_TRANSFERS,
        .trace = on_event,
        .trace_arg = wire,
    };
    /* The two processes are one program, and trust each other. */
    ucd_info_t info;
    ucd(ucd_info_create(&info));
    ucd(ucd_info_set(info, "ucd.ucx.direct", "yes"));
    ucd_ucx(ucd_ucx_create(wire->worker, &object_params, info, &wire->pipeline));
    ucd(ucd_info_free(&info));
}

/* Meanwhile the other process may need this one's progress. */
void wire_barrier(struct wire *wire) {
    const int mine = atomic_fetch_add(&wire->shared->reached[wire->rank], 1) + 1;
    while (atomic_load(&wire->shared->reached[1 - wire->rank]) < mine) {
        if (wire->pipeline != NULL)
            ucd_ucx_progress(wire->pipeline);
        else
            ucp_worker_progress(wire->worker);
        sched_yield();
    }
}

void wire_close(struct wire *wire) {
    wire_barrier(wire);
    ucd_ucx(ucd_ucx_lose_endpoint(wire->pipeline, wire->ep, UCS_ERR_CANCELED));
    const ucp_request_param_t params = {0};
    const ucs_status_ptr_t closing = ucp_ep_close_nbx(wire->ep, &params);
    if (UCS_PTR_IS_ERR(closing)) ucx(UCS_PTR_STATUS(closing), "ucp_ep_close_nbx");
    if (closing != NULL) {
        while (ucp_request_check_status(closing) == UCS_INPROGRESS)
            ucd_ucx_progress(wire->pipeline);
        ucp_request_free(closing);
    }
    wire_barrier(wire);
    ucd_ucx(ucd_ucx_destroy(&wire->pipeline));
    ucp_worker_destroy(wire->worker);
    ucp_cleanup(wire->context);
}

static void finish(struct wire *wire, ucd_ucx_request_t request, const char *what) {
    if (request == UCD_UCX_REQUEST__NULL) return;
    ucd_ucx_result_t result = {.struct_size = sizeof result};
    while (ucd_ucx_request_check(request, &result) == UCS_INPROGRESS)
        if (ucd_ucx_progress(wire->pipeline) == 0) sched_yield();
    ucd_ucx_request_free(request);
    if (result.status != UCS_OK)
        fail("process %d, %s: %s (%s)", wire->rank, what, ucs_status_string(result.status),
             ucd_strerror(result.ucd));
}

void wire_send(struct wire *wire, const void *buf, ucd_type_t type, uintptr_t count,
               ucd_info_t keys) {
    const ucd_ucx_param_t param = {.struct_size = sizeof param, .info = keys};
    ucd_ucx_request_t request;
    ucd_ucx(ucd_ucx_send_nbx(wire->pipeline, wire->ep, buf, count, type, 1, &param, &request));
    finish(wire, request, "sending");
}

void wire_receive(struct wire *wire, void *buf, ucd_type_t type, uintptr_t count, ucd_info_t keys) {
    const ucd_ucx_param_t param = {.struct_size = sizeof param, .info = keys};
    ucd_ucx_request_t request;
    ucd_ucx(ucd_ucx_recv_nbx(wire->pipeline, buf, count, type, 1, UINT64_MAX, &param, &request));
    finish(wire, request, "receiving");
}
