#include "exchange.h"

#include "../fail.h"

#include <stdio.h>

/* The library tells what happens to each piece, if it packs and unpacks them and not UCX. */
static void on_event(const ucd_ucx_event_t *event, void *argument) {
    struct exchange *exchange = argument;
    if (event->what == UCD_UCX_EVENT__PACK_BEGIN) {
        exchange->pieces.packed++;
        if (exchange->on_wire > 0) exchange->pieces.overlapped++;
    } else if (event->what == UCD_UCX_EVENT__POST) {
        exchange->pieces.sent++;
        exchange->on_wire++;
    } else if (event->what == UCD_UCX_EVENT__SENT) {
        exchange->on_wire--;
    }
}

static void set_number(ucd_info_t info, const char *key, size_t number) {
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    ucd(ucd_info_set(info, key, text));
}

static void create_object(struct exchange *exchange, size_t piece_bytes) {
    const ucd_ucx_params_t params = {
        .struct_size = sizeof params,
        .am_id = 1,
        .families = UCD_UCX_TRANSFERS,
        .trace = on_event,
        .trace_arg = exchange,
    };
    ucd_info_t info;
    ucd(ucd_info_create(&info));
    if (piece_bytes > 0) {
        set_number(info, "ucd.ucx.chunk", piece_bytes);
        set_number(info, "ucd.ucx.eager", piece_bytes / 2);
        ucd(ucd_info_set(info, "ucd.ucx.pack", "chunk"));
    }
    ucd_ucx(ucd_ucx_create(exchange->wire->worker, &params, info, &exchange->wire->object));
    ucd(ucd_info_free(&info));
}

void exchange_open(struct exchange *exchange, struct wire *wire, const struct block *block,
                   size_t piece_bytes) {
    *exchange = (struct exchange){.block = block, .wire = wire};
    create_object(exchange, piece_bytes);
    for (int face = 0; face < FACES; face++) wire_connect(wire, block->faces[face].neighbour);
    wire_ready(wire);
}

static void on_done(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *argument) {
    struct exchange *exchange = argument;
    if (result->status != UCS_OK)
        fail("a transfer has failed: %s", ucs_status_string(result->status));
    exchange->outstanding--;
    ucd_ucx_request_free(request);
}

/* Says which face of its sender's block a message is. Who sent it need not be said: there is one
 * process behind a face, which may be behind others, too. */
static ucp_tag_t tag_of(int step, int sender_face) {
    return (uint64_t)step << 8 | (uint64_t)sender_face;
}

void exchange_faces(struct exchange *exchange, double *cells, int step) {
    const uint64_t start = now_ns();
    const ucd_ucx_param_t param = {
        .struct_size = sizeof param, .callback = on_done, .user_data = exchange};
    struct wire *wire = exchange->wire;
    ucd_ucx_request_t request;
    exchange->outstanding = 2 * FACES;
    for (int number = 0; number < FACES; number++) {
        const int opposite = number ^ 1; /* what comes through a face is the neighbour's opposite */
        ucd_ucx(ucd_ucx_recv_nbx(wire->object, cells, 1, exchange->block->faces[number].receive,
                                 tag_of(step, opposite), UINT64_MAX, &param, &request));
    }
    for (int number = 0; number < FACES; number++) {
        const struct face *face = &exchange->block->faces[number];
        ucd_ucx(ucd_ucx_send_nbx(wire->object, wire->endpoints[face->neighbour], cells, 1,
                                 face->send, tag_of(step, number), &param, &request));
        if (request == UCD_UCX_REQUEST__NULL) exchange->outstanding--; /* done already */
    }
    while (exchange->outstanding > 0) wire_progress(wire, start);
}
