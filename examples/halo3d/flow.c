#include "flow.h"

#include "complain.h"
#include "now.h"

#include <sched.h>
#include <stdio.h>

static bool flow_ok(int rc) {
    return rc == UCD_SUCCESS || complain("%s", ucd_ucx_last_error());
}

/* What pieces are in halo.c. All processes send their faces in the same order, so a transfer's
 * number tells its face and iteration. */
static void on_event(const ucd_ucx_event_t *event, void *argument) {
    static const enum trace_what names[] = {
        [UCD_UCX_EVENT__PACK_BEGIN] = TRACE_PACK_BEGIN,
        [UCD_UCX_EVENT__PACK_END] = TRACE_PACK_END,
        [UCD_UCX_EVENT__POST] = TRACE_POST,
        [UCD_UCX_EVENT__SENT] = TRACE_COMPLETE,
        [UCD_UCX_EVENT__RECEIVED] = TRACE_RECEIVED,
        [UCD_UCX_EVENT__UNPACK_BEGIN] = TRACE_UNPACK_BEGIN,
        [UCD_UCX_EVENT__UNPACK_END] = TRACE_UNPACK_END,
    };
    struct flow *flow = argument;
    const bool sends = event->what <= UCD_UCX_EVENT__SENT;
    const int sender_face = (int)((event->number - 1) % FACES);
    if (event->what == UCD_UCX_EVENT__PACK_BEGIN) {
        flow->stats->pieces.packed++;
        if (flow->on_wire > 0) flow->stats->pieces.overlapped++;
    }
    if (event->what == UCD_UCX_EVENT__POST) {
        flow->stats->pieces.sent++;
        flow->on_wire++;
    }
    if (event->what == UCD_UCX_EVENT__SENT) flow->on_wire--;
    /* What comes through my face is the neighbour's opposite face. */
    trace_add(flow->trace, names[event->what], (int)((event->number - 1) / FACES),
              sends ? sender_face : sender_face ^ 1, (int)(event->offset / flow->chunk_bytes));
}

static bool set_number(ucd_info_t info, const char *key, size_t number) {
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    return ucd_ok(ucd_info_set(info, key, text));
}

/* Ends what the pipeline knows to be this endpoint's. */
static void on_lost(ucp_ep_h endpoint, ucs_status_t status, void *argument) {
    struct flow *flow = argument;
    if (flow->pipeline) ucd_ucx_lose_endpoint(flow->pipeline, endpoint, status);
}

/* A transfer has moved nothing for --transfer-timeout, and UCX keeps its buffer. A process that
 * went on would close the endpoint by force, to have the buffer back; this one gives up. */
static void on_unresponsive(ucp_ep_h endpoint, void *argument) {
    (void)endpoint;
    struct flow *flow = argument;
    if (flow->status == UCS_OK) flow->status = UCS_ERR_TIMED_OUT;
}

bool flow_make(struct flow *flow, struct wire *wire, const struct grid *grid, int rank,
               const struct options *options, struct stats *stats, struct trace *trace) {
    *flow = (struct flow){
        .wire = wire, .stats = stats, .trace = trace, .chunk_bytes = options->piece_bytes};
    wire->lost = on_lost;
    wire->lost_argument = flow;
    if (!faces_make(grid, rank, options, flow->faces)) return false;
    for (int face = 0; face < FACES; face++)
        if (!wire_connect(wire, flow->faces[face].neighbour)) return false;
    const ucd_ucx_params_t params = {.struct_size = sizeof params,
                                     .am_id = 1,
                                     .families = UCD_UCX_TRANSFERS,
                                     .trace = on_event,
                                     .trace_arg = flow,
                                     .unresponsive = on_unresponsive,
                                     .unresponsive_arg = flow};
    ucd_info_t info;
    if (!ucd_ok(ucd_info_create(&info))) return false;
    bool good = set_number(info, "ucd.ucx.chunk", options->piece_bytes) &&
                set_number(info, "ucd.ucx.depth", (size_t)options->window) &&
                set_number(info, "ucd.ucx.eager", options->piece_bytes / 2) &&
                /* The trace shows when each chunk is packed; what UCX packs has no such events. */
                ucd_ok(ucd_info_set(info, "ucd.ucx.pack", "chunk")) &&
                ucd_ok(ucd_info_set(info, "ucd.ucx.timeout", options->transfer_timeout));
    good = good && flow_ok(ucd_ucx_create(wire->worker, &params, info, &flow->pipeline));
    good = ucd_ok(ucd_info_free(&info)) && good;
    /* A message must find the pipeline there. */
    return good && wire_ready(wire);
}

static void on_done(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *argument) {
    struct flow *flow = argument;
    if (result->status != UCS_OK && flow->status == UCS_OK) flow->status = result->status;
    flow->outstanding--;
    ucd_ucx_request_free(request);
}

static bool start_receive(struct flow *flow, double *field, int iteration, int face) {
    const ucd_ucx_param_t param = {
        .struct_size = sizeof param, .callback = on_done, .user_data = flow};
    ucd_ucx_request_t request;
    flow->outstanding++;
    return flow_ok(ucd_ucx_recv_nbx(flow->pipeline, field, 1, flow->faces[face].receive,
                                    (uint64_t)iteration << 8 | (uint64_t)(face ^ 1), UINT64_MAX,
                                    &param, &request));
}

static bool start_send(struct flow *flow, const double *field, int iteration, int face) {
    const ucd_ucx_param_t param = {
        .struct_size = sizeof param, .callback = on_done, .user_data = flow};
    const struct face *sent = &flow->faces[face];
    ucd_ucx_request_t request;
    flow->outstanding++;
    if (!flow_ok(ucd_ucx_send_nbx(flow->pipeline, flow->wire->endpoints[sent->neighbour], field, 1,
                                  sent->send, (uint64_t)iteration << 8 | (uint64_t)face, &param,
                                  &request)))
        return false;
    if (request == UCD_UCX_REQUEST__NULL) flow->outstanding--; /* done already */
    stats_add(flow->stats, MEASURE_EXCHANGE, sent->bytes, 0);
    stats_add(flow->stats, MEASURE_BUSY, sent->bytes, 0);
    return true;
}

bool flow_exchange(struct flow *flow, double *field, int iteration) {
    const uint64_t start = now_ns();
    uint64_t waited = 0, waiting_since = 0;
    for (int face = 0; face < FACES; face++)
        if (!start_receive(flow, field, iteration, face)) return false;
    for (int face = 0; face < FACES; face++)
        if (!start_send(flow, field, iteration, face)) return false;
    while (flow->outstanding > 0 && flow->status == UCS_OK && flow->wire->status == UCS_OK) {
        if (ucd_ucx_progress(flow->pipeline) == 0) {
            if (waiting_since == 0) waiting_since = now_ns();
            sched_yield(); /* there may be more processes than cores */
        } else if (waiting_since != 0) {
            waited += now_ns() - waiting_since;
            waiting_since = 0;
        }
    }
    const uint64_t took = now_ns() - start;
    stats_add(flow->stats, MEASURE_EXCHANGE, 0, took);
    stats_add(flow->stats, MEASURE_BUSY, 0, took - waited);
    if (flow->status != UCS_OK)
        return complain("a transfer failed: %s", ucs_status_string(flow->status));
    return wire_ok(flow->wire);
}

bool flow_free(struct flow *flow) {
    /* Every send of the others must have come: nobody would take the rest of it. */
    wire_barrier(flow->wire);
    flow->wire->lost = NULL;
    faces_free(flow->faces);
    return flow_ok(ucd_ucx_destroy(&flow->pipeline));
}
