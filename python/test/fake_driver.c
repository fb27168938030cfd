/* Stands in for libcuda.so.1 where there is no GPU: says on stdout what is asked of it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int cuStreamSynchronize(void *stream) {
    printf("wait %p\n", stream);
    return stream == (void *)0x666 ? 400 : 0;
}

int cuStreamIsCapturing(void *stream, int *status) {
    (void)stream;
    *status = 0;
    return 0;
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
