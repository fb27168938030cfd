#include "memory.h"

#include "../fail.h"

#include <ucd_memory.h>

const char *const memory_names[MEMORY_KINDS] = {"malloc", "vmm", "pool", "managed"};

#if defined(GPU_PINGPONG_CUDA)

#include <cuda.h>
#include <dlfcn.h>

/* The driver is loaded when its memory is asked for: the program runs without it. */
static void *find(const char *name) {
    static void *library = NULL;
    if (library == NULL) library = dlopen("libcuda.so.1", RTLD_NOW);
    void *function = library == NULL ? NULL : dlsym(library, name);
    if (function == NULL) fail("NVIDIA's driver has no %s", name);
    return function;
}

static void check(CUresult result, const char *call) {
    if (result != CUDA_SUCCESS) fail("%s has failed with error %d", call, (int)result);
}

/* Calls a function of the driver; `symbol` is its name in the library. */
#define CALL_AS(symbol, function, ...)                                                             \
    do {                                                                                           \
        __typeof__(&function) call_;                                                               \
        *(void **)&call_ = find(symbol);                                                           \
        check(call_(__VA_ARGS__), symbol);                                                         \
    } while (0)
#define CALL(function, ...) CALL_AS(#function, function, __VA_ARGS__)

static void use_device(int number) {
    CUdevice device;
    CUcontext context;
    CALL(cuInit, 0);
    CALL(cuDeviceGet, &device, number);
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
}

static size_t whole_pieces(const struct memory_source *source, size_t bytes) {
    return (bytes + source->piece - 1) / source->piece * source->piece;
}

static CUdeviceptr take_vmm(const struct memory_source *source, size_t bytes) {
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = source->number},
    };
    const CUmemAccessDesc access = {.location = properties.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const size_t total = whole_pieces(source, bytes);
    CUdeviceptr memory;
    CALL(cuMemAddressReserve, &memory, total, 0, 0, 0);
    for (size_t at = 0; at < total; at += source->piece) {
        CUmemGenericAllocationHandle piece;
        CALL(cuMemCreate, &piece, source->piece, &properties, 0);
        CALL(cuMemMap, memory + at, source->piece, 0, piece, 0);
        CALL(cuMemRelease, piece); /* the mapping keeps it */
    }
    CALL(cuMemSetAccess, memory, total, &access, 1);
    return memory;
}

static CUdeviceptr take_from_pool(const struct memory_source *source, size_t bytes) {
    static CUmemoryPool pool = NULL; /* kept: the process has one device */
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = source->number},
    };
    if (pool == NULL) CALL(cuMemPoolCreate, &pool, &properties);
    CUdeviceptr memory;
    CALL(cuMemAllocFromPoolAsync, &memory, bytes, pool, NULL);
    CALL(cuStreamSynchronize, NULL);
    return memory;
}

static void *take_from_driver(const struct memory_source *source, size_t bytes) {
    CUdeviceptr memory = 0;
    use_device(source->number);
    if (source->kind == MEMORY_VMM)
        memory = take_vmm(source, bytes);
    else if (source->kind == MEMORY_POOL)
        memory = take_from_pool(source, bytes);
    else
        CALL(cuMemAllocManaged, &memory, bytes, CU_MEM_ATTACH_GLOBAL);
    return (void *)memory;
}

static void give_back_to_driver(const struct memory_source *source, void *memory, size_t bytes) {
    const CUdeviceptr address = (CUdeviceptr)memory;
    if (source->kind != MEMORY_VMM) {
        CALL_AS("cuMemFree_v2", cuMemFree, address);
        return;
    }
    const size_t total = whole_pieces(source, bytes);
    for (size_t at = 0; at < total; at += source->piece)
        CALL(cuMemUnmap, address + at, source->piece);
    CALL(cuMemAddressFree, address, total);
}

#else

static void *take_from_driver(const struct memory_source *source, size_t bytes) {
    (void)bytes;
    fail("--memory %s needs a program that was built with CUDA", memory_names[source->kind]);
}

static void give_back_to_driver(const struct memory_source *source, void *memory, size_t bytes) {
    (void)source, (void)memory, (void)bytes;
}

#endif

void *memory_take(const struct memory_source *source, size_t bytes) {
    if (source->kind != MEMORY_MALLOC) return take_from_driver(source, bytes);
    void *memory;
    ucd(ucd_memory_alloc(source->device, UCD_MEMORY__DEVICE, bytes, &memory));
    return memory;
}

void memory_give_back(const struct memory_source *source, void *memory, size_t bytes) {
    if (source->kind == MEMORY_MALLOC)
        ucd(ucd_memory_free(memory));
    else
        give_back_to_driver(source, memory, bytes);
}
