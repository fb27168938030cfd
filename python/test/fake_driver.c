/* Stands in for libcuda.so.1 where there is no GPU: says on stdout what is asked of it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int cuStreamSynchronize(void *stream) {
    printf("wait %p\n", stream);
    return stream == (void *)0x666 ? 400 : 0;
}

int cuStreamIsCapturing(void *stream, int *status) {
    *status = stream == (void *)0x777;
    return 0;
}

/* The graph that stream 0x777 is captured into, and the object that it keeps: one at a time. */
static char graph;
static void *kept;
static void (*release_kept)(void *object);

int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **captured,
                              const void **dependencies, size_t *count) {
    *captured = &graph;
    *id = 1;
    return dependencies || count ? 400 : cuStreamIsCapturing(stream, status);
}

int cuUserObjectCreate(void **object, void *what, void (*release)(void *object),
                       unsigned references, unsigned flags) {
    *object = what;
    release_kept = release;
    return references == 1 && flags == 1 ? 0 : 400;
}

int cuGraphRetainUserObject(void *of, void *object, unsigned references, unsigned flags) {
    if (of != &graph || references != 1 || flags != 1) return 400;
    kept = object;
    return 0;
}

/* For the test: destroys the graph. Returns whether it kept an object. */
int destroy_graph(void) {
    if (!kept) return 0;
    release_kept(kept);
    kept = NULL;
    return 1;
}

int cuEventCreate(void **event, unsigned flags) {
    *event = (void *)(uintptr_t)(0x100 + flags);
    return 0;
}

int cuEventRecord(void *event, void *stream) {
    printf("record %p in %p\n", event, stream);
    return stream == (void *)0x666 ? 400 : 0;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    printf("%p waits for %p\n", stream, event);
    return (int)flags;
}

int cuEventDestroy_v2(void *event) {
    printf("destroy %p\n", event);
    return 0;
}

int cuPointerGetAttribute(void *value, int what, uintptr_t address) {
    (void)address;
    *(int *)value = 3;
    return what == 9 ? 0 : 1;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = (void *)0xc0;
    printf("device %d\n", device);
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    printf("release %d\n", device);
    return 0;
}

int cuCtxPushCurrent_v2(void *context) {
    printf("push %p\n", context);
    return 0;
}

int cuCtxPopCurrent_v2(void **context) {
    *context = (void *)0xc0;
    printf("pop\n");
    return 0;
}
