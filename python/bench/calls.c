/* What the benchmarks compare Python's calls with: the same calls, made by a C program. They
 * measure themselves, in seconds for each call; a negative number says that the library refused. */
#include <ucd.h>

#include <stddef.h>
#include <stdint.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The type of a view; shape and strides in elements' bytes, as in ucd_create_ndarray. */
ucd_type_t view_type(int ndim, const intptr_t *shape, const intptr_t *strides) {
    ucd_type_t type = UCD_TYPE__NULL;
    (void)ucd_create_ndarray(ndim, shape, strides, UCD_TYPE__FLOAT, UCD_INFO__NULL, &type);
    return type;
}

/* Packs between host arrays. */
double pack_seconds(int calls, const void *in, ucd_type_t type, void *out, uintptr_t bytes) {
    ucd_info_t host = UCD_INFO__NULL;
    uintptr_t packed = 0;
    if (ucd_info_create(&host) != UCD_SUCCESS) return -1;
    (void)ucd_info_set(host, "ucd.gpu", "none");
    const double start = now();
    for (int i = 0; i < calls; ++i)
        if (ucd_pack(in, 1, type, 0, out, bytes, &packed, host, UCD_OP__REPLACE) != UCD_SUCCESS)
            return -1;
    const double seconds = (now() - start) / calls;
    (void)ucd_info_free(&host);
    return seconds;
}

/* Enqueues packs between arrays in device memory. */
double enqueue_seconds(int calls, const void *in, ucd_type_t type, void *out, uintptr_t bytes,
                       void *stream) {
    const ucd_stream_t cuda = {"cuda", 0, stream};
    uintptr_t packed = 0;
    const double start = now();
    for (int i = 0; i < calls; ++i)
        if (ucd_pack_stream(in, 1, type, 0, out, bytes, &packed, UCD_INFO__NULL, UCD_OP__REPLACE,
                            cuda) != UCD_SUCCESS)
            return -1;
    return (now() - start) / calls;
}

/* Enqueues a gather of pages, with the type made anew each time: layers of pages of `page` bytes.
 */
double gather_seconds(int calls, const void *pool, intptr_t layers, intptr_t pages, intptr_t page,
                      const int64_t *indices, intptr_t chosen, void *out, void *stream) {
    const ucd_stream_t cuda = {"cuda", 0, stream};
    uintptr_t packed = 0;
    const double start = now();
    for (int i = 0; i < calls; ++i) {
        ucd_type_t one = UCD_TYPE__NULL, all = UCD_TYPE__NULL;
        if (ucd_create_indexed_block_ref(chosen, page, indices, UCD_TYPE__INT64_T, page, 0,
                                         pages * page, UCD_TYPE__BYTE, UCD_INFO__NULL,
                                         &one) != UCD_SUCCESS ||
            ucd_create_hvector(layers, 1, pages * page, one, UCD_INFO__NULL, &all) != UCD_SUCCESS ||
            ucd_pack_stream(pool, 1, all, 0, out, (uintptr_t)(layers * chosen * page), &packed,
                            UCD_INFO__NULL, UCD_OP__REPLACE, cuda) != UCD_SUCCESS)
            return -1;
        (void)ucd_free(&all);
        (void)ucd_free(&one);
    }
    return (now() - start) / calls;
}

/* A copy for each of the pieces: `copy` is the CUDA driver's cuMemcpyDtoDAsync. */
int copy_each(int (*copy)(uintptr_t, uintptr_t, size_t, void *), uintptr_t out,
              const uint64_t *pieces, size_t bytes, size_t count, void *stream) {
    for (size_t i = 0; i < count; ++i) {
        const int rc = copy(out + i * bytes, (uintptr_t)pieces[i], bytes, stream);
        if (rc != 0) return rc;
    }
    return 0;
}
