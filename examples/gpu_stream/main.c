/* A face of a 3-D field in GPU memory, packed in a CUDA stream of the program's own: first call by
 * call, then captured in a CUDA graph that is replayed. Exit status 77 without a GPU. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucd.h>

enum { SIZE = 64, CELLS = SIZE * SIZE * SIZE, FACE = SIZE * SIZE, COLUMN = 5, REPLAYS = 3 };

static void fail(const char *what, const char *why) {
    fprintf(stderr, "gpu_stream: %s: %s\n", what, why);
    exit(1);
}

static void cuda(cudaError_t status) {
    if (status != cudaSuccess) fail("CUDA", cudaGetErrorString(status));
}

static void ucd(int rc) {
    if (rc != UCD_SUCCESS) fail("UCD", ucd_last_error());
}

/* Host memory is pinned: copies from and to pageable memory cannot be captured. */
static float *field, *face;
static float *device_field, *device_face;

static void allocate(void) {
    cuda(cudaMallocHost((void **)&field, CELLS * sizeof(float)));
    cuda(cudaMallocHost((void **)&face, FACE * sizeof(float)));
    cuda(cudaMalloc((void **)&device_field, CELLS * sizeof(float)));
    cuda(cudaMalloc((void **)&device_face, FACE * sizeof(float)));
}

static void release(void) {
    cuda(cudaFree(device_face));
    cuda(cudaFree(device_field));
    cuda(cudaFreeHost(face));
    cuda(cudaFreeHost(field));
}

/* All cells [z][y][COLUMN]: 4 bytes of every 256. */
static ucd_type_t face_type(void) {
    const intptr_t sizes[] = {SIZE, SIZE, SIZE}, subsizes[] = {SIZE, SIZE, 1};
    const intptr_t starts[] = {0, 0, COLUMN};
    ucd_type_t type;
    ucd(ucd_create_subarray(3, sizes, subsizes, starts, UCD_ORDER__C, UCD_TYPE__FLOAT,
                            UCD_INFO__NULL, &type));
    return type;
}

static void fill(int step) {
    for (int i = 0; i < CELLS; i++) field[i] = (float)(i + step);
    for (int i = 0; i < FACE; i++) face[i] = -1;
}

static void check(const char *what, int step) {
    for (int i = 0; i < FACE; i++)
        if (face[i] != (float)(i * SIZE + COLUMN + step)) fail(what, "other values were packed");
    printf("%s: %d cells are right\n", what, FACE);
}

/* The field to the device, its face packed there, and the face back. Nothing is waited for: all is
 * in the order of the stream, with whatever else the program puts there. */
static void pack_face(cudaStream_t stream, ucd_type_t type) {
    const ucd_stream_t ordered = {.backend = "cuda", .device = 0, .native = stream};
    uintptr_t bytes;
    cuda(cudaMemcpyAsync(device_field, field, CELLS * sizeof(float), cudaMemcpyHostToDevice,
                         stream));
    ucd(ucd_pack_stream(device_field, 1, type, 0, device_face, FACE * sizeof(float), &bytes,
                        UCD_INFO__NULL, UCD_OP__REPLACE, ordered));
    cuda(cudaMemcpyAsync(face, device_face, bytes, cudaMemcpyDeviceToHost, stream));
}

static void run_in_stream(cudaStream_t stream, ucd_type_t type) {
    fill(0);
    pack_face(stream, type);
    cuda(cudaStreamSynchronize(stream));
    check("in a stream", 0);
}

/* The graph reads what the buffers hold when it is replayed. */
static void run_in_graph(cudaStream_t stream, ucd_type_t type) {
    /* A first use uploads tables, which cannot be captured; ucd_prepare does that beforehand. */
    const ucd_stream_t ordered = {.backend = "cuda", .device = 0, .native = stream};
    ucd(ucd_prepare(1, type, UCD_OP__REPLACE, ordered, UCD_INFO__NULL));

    cudaGraph_t graph;
    cudaGraphExec_t replayable;
    cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    pack_face(stream, type);
    cuda(cudaStreamEndCapture(stream, &graph));
    cuda(cudaGraphInstantiate(&replayable, graph, 0));
    cuda(cudaGraphDestroy(graph));

    for (int step = 1; step <= REPLAYS; step++) {
        fill(step);
        cuda(cudaGraphLaunch(replayable, stream));
        cuda(cudaStreamSynchronize(stream));
        check("in a graph", step);
    }
    cuda(cudaGraphExecDestroy(replayable));
}

int main(void) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        puts("gpu_stream: there is no GPU that CUDA can use");
        return 77;
    }
    cuda(cudaSetDevice(0));
    ucd(ucd_init(UCD_INFO__NULL));
    allocate();
    cudaStream_t stream;
    cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ucd_type_t type = face_type();

    run_in_stream(stream, type);
    run_in_graph(stream, type);

    /* Not before the graph has ended: it uses tables of the type. */
    ucd(ucd_free(&type));
    cuda(cudaStreamDestroy(stream));
    release();
    ucd(ucd_finalize());
    return 0;
}
