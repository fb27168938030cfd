/* Messages between the processes of a team: UCX's tag matching, nonblocking.
 *
 * A function that returns false has said why, and the process is to end: operations may be on their
 * way then, and other processes at work in its memory, so nothing is taken down. */
#ifndef HALO3D_WIRE_H
#define HALO3D_WIRE_H

#include "team.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucp/api/ucp.h>

struct wire {
    struct team *team;
    int rank;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h *endpoints; /* by rank; NULL until wire_connect */
    ucs_status_t status; /* of the first operation that failed, or of a lost process */
    /* Called, unless NULL, for an endpoint whose process is lost, from within progress. */
    void (*lost)(ucp_ep_h endpoint, ucs_status_t status, void *lost_argument);
    void *lost_argument;
};

/* A send or receive on its way. It belongs to the caller, who keeps it until done is called: once,
 * from within the function that started it or from wire_progress. */
struct wire_operation {
    void (*done)(void *argument);
    void *argument;
    struct wire *wire; /* these are set by the functions below */
    size_t bytes;
};

/* Starts UCX in this process and tells its address to the team; all processes call it. */
bool wire_open(struct wire *wire, struct team *team, int rank);

/* Makes it possible to send to a process, which may be this one. */
bool wire_connect(struct wire *wire, int rank);

/* Waits until all processes have made their connections and called it, so that no message has to
 * wait for a connection, and whoever sends finds everybody there. */
bool wire_ready(struct wire *wire);

/* Sends bytes from buffer, or what the count entries of iov list. Buffer or list, and
 * what it lists, must stay as they are until the operation is done. */
bool wire_send(struct wire *wire, int to, uint64_t tag, const void *buffer, size_t bytes,
               struct wire_operation *operation);
bool wire_send_iov(struct wire *wire, int to, uint64_t tag, const ucp_dt_iov_t *iov, size_t count,
                   struct wire_operation *operation);

/* Receives a message of exactly bytes with this tag from anybody. */
bool wire_receive(struct wire *wire, uint64_t tag, void *buffer, size_t bytes,
                  struct wire_operation *operation);

/* False, with a complaint, if an operation failed or a process was lost. */
bool wire_ok(const struct wire *wire);

/* Lets UCX work; *moved becomes true if something happened. False as wire_ok. */
bool wire_progress(struct wire *wire, bool *moved);

/* Waits until all processes have called it. */
void wire_barrier(struct wire *wire);

/* Ends it, once all processes have called it. No operation may be on its way. */
bool wire_close(struct wire *wire);

#endif
