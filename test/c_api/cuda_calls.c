/* The calls of a test for the NVIDIA driver, which is loaded here, so that the test is compiled
 * without CUDA.
 */
#include "device_calls.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    void *graph, *replayable;
} graph_t;

static void *driver;

static void check(int status, const char *name) {
    if (status == 0) return;
    fprintf(stderr, "%s returned %d\n", name, status);
    exit(1);
}

/* Calls a function of the driver with arguments of these types. */
#define DRIVER(name, types, ...)                                                                   \
    do {                                                                                           \
        int(*function) types = (int(*) types)dlsym(driver, name);                                  \
        check(function != NULL ? function(__VA_ARGS__) : -1, name);                                \
    } while (0)

static void *context; /* of device 0, current in each thread that uses its memory */

static void enter(void) {
    DRIVER("cuCtxSetCurrent", (void *), context);
}

static void *allocate(size_t bytes) {
    uintptr_t memory = 0;
    enter();
    DRIVER("cuMemAlloc_v2", (uintptr_t *, size_t), &memory, bytes);
    return (void *)memory;
}

static void write_memory(void *to, const void *from, size_t bytes) {
    enter();
    DRIVER("cuMemcpyHtoD_v2", (uintptr_t, const void *, size_t), (uintptr_t)to, from, bytes);
    /* From pageable memory, that returns before the data has arrived. */
    DRIVER("cuStreamSynchronize", (void *), NULL);
}

static void read_memory(void *to, const void *from, size_t bytes) {
    enter();
    DRIVER("cuMemcpyDtoH_v2", (void *, uintptr_t, size_t), to, (uintptr_t)from, bytes);
}

static void *make_stream(void) {
    enum { non_blocking = 1 };
    void *stream = NULL;
    DRIVER("cuStreamCreate", (void **, unsigned), &stream, non_blocking);
    return stream;
}

static void synchronise(void *stream) {
    DRIVER("cuStreamSynchronize", (void *), stream);
}

static void begin_capture(void *stream) {
    enum { thread_local_mode = 1 };
    DRIVER("cuStreamBeginCapture_v2", (void *, int), stream, thread_local_mode);
}

static void *end_capture(void *stream) {
    graph_t *made = calloc(1, sizeof *made);
    DRIVER("cuStreamEndCapture", (void *, void **), stream, &made->graph);
    DRIVER("cuGraphInstantiateWithFlags", (void **, void *, unsigned long long), &made->replayable,
           made->graph, 0);
    return made;
}

static void replay(void *graph, void *stream) {
    DRIVER("cuGraphLaunch", (void *, void *), ((graph_t *)graph)->replayable, stream);
}

static void destroy_graph(void *graph) {
    graph_t *made = graph;
    DRIVER("cuGraphExecDestroy", (void *), made->replayable);
    DRIVER("cuGraphDestroy", (void *), made->graph);
    free(made);
}

const device_calls_t *cuda_calls(void) {
    static const device_calls_t calls = {allocate,    write_memory, read_memory,
                                         make_stream, synchronise,  begin_capture,
                                         end_capture, replay,       destroy_graph};
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == NULL) return NULL;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*count_devices)(int *) = (int (*)(int *))dlsym(driver, "cuDeviceGetCount");
    int devices = 0;
    if (init == NULL || init(0) != 0 || count_devices(&devices) != 0 || devices == 0) return NULL;
    int device = 0;
    DRIVER("cuDeviceGet", (int *, int), &device, 0);
    DRIVER("cuDevicePrimaryCtxRetain", (void **, int), &context, device);
    enter();
    return &calls;
}
