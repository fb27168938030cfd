/* What a test in C needs of a driver: memory of device 0, a stream and a graph. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    void *(*allocate)(size_t bytes);
    void (*write)(void *to, const void *from, size_t bytes);
    void (*read)(void *to, const void *from, size_t bytes);
    void *(*make_stream)(void);
    void (*synchronise)(void *stream);
    void (*begin_capture)(void *stream);
    void *(*end_capture)(void *stream); /* makes a graph */
    void (*replay)(void *graph, void *stream);
    void (*destroy_graph)(void *graph);
} device_calls_t;

/* Of the NVIDIA driver; null if there is none, or no device. */
const device_calls_t *cuda_calls(void);

#ifdef __cplusplus
}
#endif
