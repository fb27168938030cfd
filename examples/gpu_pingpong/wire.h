/* One of the two processes in UCX: a worker, an endpoint to the other one, an object. */
#ifndef GPU_PINGPONG_WIRE_H
#define GPU_PINGPONG_WIRE_H

#include <stdatomic.h>
#include <stdint.h>
#include <ucd_ucx.h>

/* Memory that the two processes share from the start. */
struct shared {
    struct {
        size_t bytes;
        unsigned char text[4096];
    } addresses[2];
    atomic_int reached[2]; /* barriers */
};

struct wire {
    struct shared *shared;
    int rank;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucd_ucx_t pipeline;
    /* Chunks that were sent, those of them that stayed on the device, and those that were packed.
     */
    uint64_t chunks, shared_chunks, packed_chunks;
};

void wire_open(struct wire *wire, struct shared *shared, int rank);
void wire_close(struct wire *wire);
void wire_barrier(struct wire *wire);

/* Each is complete when it returns. */
void wire_send(struct wire *wire, const void *buf, ucd_type_t type, uintptr_t count,
               ucd_info_t keys);
void wire_receive(struct wire *wire, void *buf, ucd_type_t type, uintptr_t count, ucd_info_t keys);

#endif
