#include "halo.h"

#include "complain.h"
#include "now.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* A message's tag says which exchange it belongs to, which face of the sender's block it is, and
 * which piece of it. So a process that is the neighbour behind two faces, or behind all of one's
 * own, is no special case. Who sent it need not be said: there is one process behind a face. */

static uint64_t tag_of(int iteration, int sender_face, int piece) {
    return (uint64_t)iteration << 32 | (uint64_t)sender_face << 28 | (uint64_t)piece;
}

enum { MOST_PIECES_PER_FACE = 1 << 28 };

static int opposite(int face) {
    return face ^ 1;
}

/* ---- Sending ---- */

static void on_sent(void *argument) {
    struct slot *slot = argument;
    struct halo *halo = slot->halo;
    trace_add(halo->trace, TRACE_COMPLETE, halo->iteration, slot->piece.face, slot->piece.number);
    slot->state = SLOT_FREE;
    halo->slots_in_use--;
    halo->on_wire--;
}

/* What comes before a piece is given to the wire. */
static uint64_t begin_post(struct slot *slot) {
    struct halo *halo = slot->halo;
    slot->state = SLOT_ON_WIRE;
    halo->on_wire++;
    halo->stats->pieces.sent++;
    stats_add(halo->stats, MEASURE_EXCHANGE, slot->piece.bytes, 0);
    stats_add(halo->stats, MEASURE_BUSY, slot->piece.bytes, 0);
    trace_add(halo->trace, TRACE_POST, halo->iteration, slot->piece.face, slot->piece.number);
    return tag_of(halo->iteration, slot->piece.face, slot->piece.number);
}

static bool post_bytes(struct slot *slot, const void *bytes) {
    const int to = slot->halo->faces[slot->piece.face].neighbour;
    const uint64_t tag = begin_post(slot);
    return wire_send(slot->halo->wire, to, tag, bytes, slot->piece.bytes, &slot->operation);
}

/* Sends a piece as the list of its segments: UCX gathers them. */
static bool post_iov(struct slot *slot) {
    struct halo *halo = slot->halo;
    const struct face *face = &halo->faces[slot->piece.face];
    size_t entries = 0, bytes = 0;
    while (bytes < slot->piece.bytes) {
        struct iovec some[256];
        uintptr_t some_entries, some_bytes;
        if (!ucd_ok(ucd_iov_bytes(halo->field, 1, face->send, slot->piece.offset + bytes,
                                  slot->piece.bytes - bytes, some, 256, &some_entries,
                                  &some_bytes)))
            return false;
        if (some_entries == 0 || entries + some_entries > halo->iov_room)
            return complain("face %s: ucd_get_layout and ucd_iov_bytes disagree",
                            face_names[slot->piece.face]);
        for (uintptr_t i = 0; i < some_entries; i++)
            slot->iov[entries++] =
                (ucp_dt_iov_t){.buffer = some[i].iov_base, .length = some[i].iov_len};
        bytes += some_bytes;
    }
    const uint64_t tag = begin_post(slot);
    return wire_send_iov(halo->wire, face->neighbour, tag, slot->iov, entries, &slot->operation);
}

static bool finish_packing(struct slot *slot) {
    struct halo *halo = slot->halo;
    const uint64_t took = now_ns() - slot->pack_start_ns;
    stats_add(halo->stats, MEASURE_PACK_X + slot->piece.face / 2, slot->piece.bytes, took);
    stats_add(halo->stats, MEASURE_PACK, slot->piece.bytes, took);
    trace_add(halo->trace, TRACE_PACK_END, halo->iteration, slot->piece.face, slot->piece.number);
    return post_bytes(slot, slot->buffer);
}

/* Packs a piece, while what was posted before is on the wire. */
static bool start_packing(struct slot *slot) {
    struct halo *halo = slot->halo;
    const struct piece *piece = &slot->piece;
    halo->stats->pieces.packed++;
    if (halo->on_wire > 0) halo->stats->pieces.overlapped++;
    trace_add(halo->trace, TRACE_PACK_BEGIN, halo->iteration, piece->face, piece->number);
    slot->state = SLOT_PACKING;
    slot->pack_start_ns = now_ns();
    uintptr_t packed;
    if (!ucd_ok(ucd_ipack(halo->field, 1, halo->faces[piece->face].send, piece->offset,
                          slot->buffer, piece->bytes, &packed, UCD_INFO__NULL, UCD_OP__REPLACE,
                          &slot->packing)))
        return false;
    if (packed != piece->bytes)
        return complain("ucd_ipack: it packed %zu bytes of %zu", (size_t)packed, piece->bytes);
    /* In host memory the work is done when the call returns; with a device it would go on. */
    return slot->packing != UCD_REQUEST__NULL || finish_packing(slot);
}

static bool start_piece(struct slot *slot, const struct piece *piece) {
    const struct face *face = &slot->halo->faces[piece->face];
    slot->piece = *piece;
    slot->halo->slots_in_use++;
    switch (face->method) {
    case METHOD_DIRECT: /* one segment, from layout.low to layout.high */
        return post_bytes(slot, (const unsigned char *)slot->halo->field + face->layout.low +
                                    piece->offset);
    case METHOD_IOV: return post_iov(slot);
    case METHOD_PACK: return start_packing(slot);
    case METHOD_PIPELINE: break; /* see flow.c */
    }
    return complain("face %s: no such method", face_names[piece->face]);
}

/* Gives one more piece its turn, if the window has room; and posts what has been packed. */
static bool advance_sends(struct halo *halo, bool *moved) {
    bool started = false;
    for (int i = 0; i < halo->slot_count; i++) {
        struct slot *slot = &halo->slots[i];
        if (slot->state == SLOT_PACKING) {
            int packed = 0;
            if (!ucd_ok(ucd_test(&slot->packing, &packed))) return false;
            if (!packed) continue;
            if (!finish_packing(slot)) return false;
            *moved = true;
        } else if (slot->state == SLOT_FREE && !started && halo->next_piece < halo->piece_count) {
            if (!start_piece(slot, &halo->pieces[halo->next_piece++])) return false;
            started = *moved = true;
        }
    }
    return true;
}

/* ---- Receiving ---- */

static void list_clear(struct incoming_list *list) {
    list->first = NULL;
    list->end = &list->first;
}

static void list_append(struct incoming_list *list, struct incoming *incoming) {
    incoming->next = NULL;
    *list->end = incoming;
    list->end = &incoming->next;
}

static struct incoming *list_take(struct incoming_list *list) {
    struct incoming *incoming = list->first;
    if (!incoming) return NULL;
    list->first = incoming->next;
    if (!list->first) list->end = &list->first;
    return incoming;
}

static void on_received(void *argument) {
    struct incoming *incoming = argument;
    struct halo *halo = incoming->halo;
    trace_add(halo->trace, TRACE_RECEIVED, incoming->iteration, incoming->piece.face,
              incoming->piece.number);
    list_append(&halo->arrived[incoming->iteration & 1], incoming);
}

static bool post_receive(struct incoming *incoming, int iteration) {
    const struct piece *piece = &incoming->piece;
    incoming->iteration = iteration;
    /* What comes through my face is the neighbour's opposite face. */
    return wire_receive(incoming->halo->wire,
                        tag_of(iteration, opposite(piece->face), piece->number), incoming->buffer,
                        piece->bytes, &incoming->operation);
}

static bool finish_unpacking(struct incoming *incoming) {
    struct halo *halo = incoming->halo;
    const struct piece *piece = &incoming->piece;
    const uint64_t took = now_ns() - incoming->unpack_start_ns;
    stats_add(halo->stats, MEASURE_UNPACK_X + piece->face / 2, piece->bytes, took);
    stats_add(halo->stats, MEASURE_UNPACK, piece->bytes, took);
    trace_add(halo->trace, TRACE_UNPACK_END, incoming->iteration, piece->face, piece->number);
    halo->missing--;
    /* The buffer is free again: the next exchange's receive is posted before anybody sends it. */
    const int next = incoming->iteration + 1;
    return next == halo->iterations || post_receive(incoming, next);
}

static bool start_unpacking(struct incoming *incoming) {
    struct halo *halo = incoming->halo;
    const struct piece *piece = &incoming->piece;
    if (piece->number < halo->newest[piece->face])
        halo->stats->pieces.out_of_order++;
    else
        halo->newest[piece->face] = piece->number;

    trace_add(halo->trace, TRACE_UNPACK_BEGIN, incoming->iteration, piece->face, piece->number);
    incoming->unpack_start_ns = now_ns();
    uintptr_t unpacked;
    if (!ucd_ok(ucd_iunpack(incoming->buffer, piece->bytes, halo->field, 1,
                            halo->faces[piece->face].receive, piece->offset, &unpacked,
                            UCD_INFO__NULL, UCD_OP__REPLACE, &incoming->unpacking)))
        return false;
    if (unpacked != piece->bytes)
        return complain("ucd_iunpack: it unpacked %zu bytes of %zu", (size_t)unpacked,
                        piece->bytes);
    if (incoming->unpacking == UCD_REQUEST__NULL) return finish_unpacking(incoming);
    list_append(&halo->unpacking, incoming);
    return true;
}

/* Unpacks one piece that has arrived, in whatever order they come. One at a time, so that pieces to
 * be sent get their turn. */
static bool advance_receives(struct halo *halo, bool *moved) {
    struct incoming *incoming = list_take(&halo->arrived[halo->iteration & 1]);
    if (incoming) {
        *moved = true;
        if (!start_unpacking(incoming)) return false;
    }
    struct incoming *waiting = halo->unpacking.first;
    list_clear(&halo->unpacking);
    while (waiting) {
        struct incoming *next = waiting->next;
        int unpacked = 0;
        if (!ucd_ok(ucd_test(&waiting->unpacking, &unpacked))) return false;
        if (!unpacked)
            list_append(&halo->unpacking, waiting);
        else if (!finish_unpacking(waiting))
            return false;
        waiting = next;
    }
    return true;
}

/* ---- The exchange ---- */

/* Counts what an exchange has done: every piece that was posted, sent or unpacked. */
static int steps_made(const struct halo *halo) {
    return 2 * halo->next_piece - halo->slots_in_use - halo->missing;
}

/* UCX may never tell that a process died (see wire_connect); what it was to send never comes. */
static bool is_stuck(const struct halo *halo, uint64_t last_step) {
    return halo->timeout_ns != 0 && now_ns() - last_step > halo->timeout_ns;
}

bool halo_exchange(struct halo *halo, double *field, int iteration) {
    const uint64_t start = now_ns();
    uint64_t waited = 0, waiting_since = 0, last_step = start;
    halo->field = field;
    halo->iteration = iteration;
    halo->next_piece = 0;
    halo->missing = halo->piece_count;
    for (int face = 0; face < FACES; face++) halo->newest[face] = 0;

    while (halo->next_piece < halo->piece_count || halo->slots_in_use > 0 || halo->missing > 0) {
        const int made = steps_made(halo);
        bool moved = false;
        if (!advance_sends(halo, &moved) || !wire_progress(halo->wire, &moved) ||
            !advance_receives(halo, &moved))
            return false;
        if (steps_made(halo) != made) last_step = now_ns();
        if (!moved) {
            if (waiting_since == 0) waiting_since = now_ns();
            if (is_stuck(halo, last_step))
                return complain("no piece was sent or received for %s s", halo->timeout);
            sched_yield(); /* there may be more processes than cores */
        } else if (waiting_since != 0) {
            waited += now_ns() - waiting_since;
            waiting_since = 0;
        }
    }
    const uint64_t took = now_ns() - start;
    stats_add(halo->stats, MEASURE_EXCHANGE, 0, took);
    stats_add(halo->stats, MEASURE_BUSY, 0, took - waited);
    return true;
}

/* ---- Making and freeing ---- */

/* Writes the pieces of a face to an array, and returns the end of what it wrote. */
static struct piece *cut_face(struct piece *end, int face, size_t bytes, size_t piece_bytes) {
    int number = 0;
    for (size_t offset = 0; offset < bytes; offset += piece_bytes) {
        const size_t rest = bytes - offset;
        *end++ = (struct piece){.face = face,
                                .number = number++,
                                .offset = offset,
                                .bytes = rest < piece_bytes ? rest : piece_bytes};
    }
    return end;
}

static bool cut_into_pieces(struct halo *halo, size_t piece_bytes) {
    size_t count = 0;
    for (int face = 0; face < FACES; face++) {
        size_t pieces = (halo->faces[face].bytes + piece_bytes - 1) / piece_bytes;
        if (pieces > MOST_PIECES_PER_FACE)
            return complain("face %s has %zu pieces; make them larger (--piece)", face_names[face],
                            pieces);
        count += pieces;
    }
    if (count > INT32_MAX) return complain("%zu pieces are too many (--piece)", count);
    halo->pieces = calloc(count, sizeof *halo->pieces);
    if (!halo->pieces) return complain("no memory for %zu pieces", count);
    halo->piece_count = (int)count;

    /* What goes to others comes first: it is on the wire while what stays here is packed. */
    struct piece *end = halo->pieces;
    for (int pass = 0; pass < 2; pass++)
        for (int face = 0; face < FACES; face++)
            if ((halo->faces[face].neighbour == halo->wire->rank) == (pass == 1))
                end = cut_face(end, face, halo->faces[face].bytes, piece_bytes);
    return true;
}

/* The most segments that a piece of a face sent as iov can have. */
static size_t max_segments(const struct face faces[FACES], size_t piece_bytes) {
    size_t most = 0;
    for (int face = 0; face < FACES; face++) {
        if (faces[face].method != METHOD_IOV) continue;
        size_t segments = piece_bytes / faces[face].layout.min_segment + 2; /* two may be cut */
        if (segments > most) most = segments;
    }
    return most;
}

static bool allocate(struct halo *halo, size_t piece_bytes, int window) {
    const size_t slots = (size_t)window, incoming = (size_t)halo->piece_count;
    halo->slot_count = window;
    halo->iov_room = max_segments(halo->faces, piece_bytes);
    halo->slots = calloc(slots, sizeof *halo->slots);
    halo->incoming = calloc(incoming, sizeof *halo->incoming);
    halo->buffers = calloc(slots + incoming, piece_bytes);
    if (halo->iov_room > 0) halo->iovs = calloc(slots * halo->iov_room, sizeof *halo->iovs);
    if (!halo->slots || !halo->incoming || !halo->buffers || (halo->iov_room > 0 && !halo->iovs))
        return complain("no memory for %zu pieces of %zu bytes", slots + incoming, piece_bytes);

    for (size_t i = 0; i < slots; i++)
        halo->slots[i] = (struct slot){
            .operation = {.done = on_sent, .argument = &halo->slots[i]},
            .halo = halo,
            .buffer = halo->buffers + i * piece_bytes,
            .iov = halo->iovs ? halo->iovs + i * halo->iov_room : NULL,
        };
    for (size_t i = 0; i < incoming; i++)
        halo->incoming[i] = (struct incoming){
            .operation = {.done = on_received, .argument = &halo->incoming[i]},
            .halo = halo,
            .piece = halo->pieces[i], /* a face and its neighbour's opposite have the same shape */
            .buffer = halo->buffers + (slots + i) * piece_bytes,
        };
    return true;
}

static bool connect_and_post(struct halo *halo) {
    for (int face = 0; face < FACES; face++)
        if (!wire_connect(halo->wire, halo->faces[face].neighbour)) return false;
    for (int i = 0; halo->iterations > 0 && i < halo->piece_count; i++)
        if (!post_receive(&halo->incoming[i], 0)) return false;
    return wire_ready(halo->wire);
}

bool halo_make(struct halo *halo, struct wire *wire, const struct grid *grid, int rank,
               const struct options *options, struct stats *stats, struct trace *trace) {
    *halo = (struct halo){.wire = wire,
                          .stats = stats,
                          .trace = trace,
                          .iterations = options->iterations,
                          .timeout = options->transfer_timeout,
                          .timeout_ns = (uint64_t)(strtod(options->transfer_timeout, NULL) * 1e9)};
    for (int parity = 0; parity < 2; parity++) list_clear(&halo->arrived[parity]);
    list_clear(&halo->unpacking);
    return faces_make(grid, rank, options, halo->faces) &&
           cut_into_pieces(halo, options->piece_bytes) &&
           allocate(halo, options->piece_bytes, options->window) && connect_and_post(halo);
}

void halo_free(struct halo *halo) {
    faces_free(halo->faces);
    free(halo->pieces);
    free(halo->slots);
    free(halo->incoming);
    free(halo->buffers);
    free(halo->iovs);
    *halo = (struct halo){0};
}
