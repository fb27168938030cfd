/* Two copies of libucd in one process use one plugin, as when a library and a program each bring
 * their own. The first is finalised and unloaded; the second goes on: its memory on the device, its
 * plans, its streams and its messages are its own. A graph of the first is destroyed after that.
 *
 * Usage: two_openers_test LIBUCD PLUGIN: the plugin is in a folder of its own, as libucd_cuda.so.
 */
#define _GNU_SOURCE /* dladdr, mkstemp */
#include "copied_library.h"
#include "device_calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { elements = 1000, spread = 7, moves = 5, skipped = 77 };

static const device_calls_t *device;
static int input[elements * spread];

typedef struct {
    void *library; /* where its functions are looked up */
    intptr_t displs[elements];
    ucd_type_t type;
    void *from, *packed, *stream;
    ucd_plan_t plan; /* of several equal moves */
} copy_t;

/* Whether the copy has a backend with a device. */
static int has_device(copy_t *copy) {
    void *library = copy->library;
    int count = 0;
    require(CALL(ucd_backend_count)(&count) == UCD_SUCCESS, "ucd_backend_count");
    for (int i = 0; i < count; ++i) {
        ucd_backend_desc_t desc = {.struct_size = sizeof desc};
        require(CALL(ucd_backend_get)(i, &desc) == UCD_SUCCESS, "ucd_backend_get");
        if (strcmp(desc.name, "cuda") != 0) continue;
        if (desc.devices == 0) fprintf(stderr, "no device: %s\n", desc.reason);
        return desc.devices > 0;
    }
    return 0;
}

static ucd_stream_t stream_of(const copy_t *copy) {
    const ucd_stream_t stream = {"cuda", 0, copy->stream, NULL, 0};
    return stream;
}

/* A type of blocks at irregular places, so that a list of them is in the device's memory. */
static ucd_type_t make_type(copy_t *copy) {
    void *library = copy->library;
    ucd_type_t type = UCD_TYPE__NULL;
    require(CALL(ucd_create_indexed_block)(elements, 1, copy->displs, UCD_TYPE__INT, UCD_INFO__NULL,
                                           &type) == UCD_SUCCESS,
            "ucd_create_indexed_block");
    return type;
}

static void start(copy_t *copy, int seed) {
    void *library = copy->library;
    for (int i = 0; i < elements; ++i) copy->displs[i] = i * spread + (i * i + seed) % spread;
    copy->type = make_type(copy);
    copy->from = device->allocate(sizeof input);
    copy->packed = device->allocate(moves * elements * sizeof *input);
    copy->stream = device->make_stream();
    device->write(copy->from, input, sizeof input);
    ucd_move_t list[moves];
    for (int i = 0; i < moves; ++i) {
        const ucd_move_t one = UCD_MOVE__INIT;
        list[i] = one;
        list[i].inbuf = copy->from;
        list[i].incount = 1;
        list[i].intype = copy->type;
        list[i].outbuf = (int *)copy->packed + i * elements;
        list[i].outcount = elements * sizeof *input;
    }
    require(CALL(ucd_plan_create)(list, moves, UCD_INFO__NULL, UCD_OP__REPLACE, &copy->plan) ==
                UCD_SUCCESS,
            "ucd_plan_create");
}

static void clear(const copy_t *copy) {
    static const int nothing[moves * elements];
    device->write(copy->packed, nothing, sizeof nothing);
}

static void check_packed(const copy_t *copy, int count, const char *what) {
    static _Thread_local int output[moves * elements];
    device->read(output, copy->packed, sizeof output);
    for (int i = 0; i < count * elements; ++i)
        require(output[i] == input[copy->displs[i % elements]], what);
}

static void use(copy_t *copy) {
    void *library = copy->library;
    uintptr_t moved = 0;
    clear(copy);
    require(CALL(ucd_pack)(copy->from, 1, copy->type, 0, copy->packed, elements * sizeof *input,
                           &moved, UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS,
            "ucd_pack");
    check_packed(copy, 1, "what was packed");
    clear(copy);
    require(CALL(ucd_pack_stream)(copy->from, 1, copy->type, 0, copy->packed,
                                  elements * sizeof *input, &moved, UCD_INFO__NULL, UCD_OP__REPLACE,
                                  stream_of(copy)) == UCD_SUCCESS,
            "ucd_pack_stream");
    device->synchronise(copy->stream);
    check_packed(copy, 1, "what was packed in a stream");
    clear(copy);
    ucd_request_t request = UCD_REQUEST__NULL;
    require(CALL(ucd_plan_start)(copy->plan, &request) == UCD_SUCCESS, "ucd_plan_start");
    require(CALL(ucd_wait)(&request) == UCD_SUCCESS, "ucd_wait");
    check_packed(copy, moves, "what a plan packed");
}

/* A failure that the plugin words: the type's list is not on the device yet. */
static void fail_with_a_message(copy_t *copy) {
    void *library = copy->library;
    ucd_type_t unprepared = make_type(copy);
    uintptr_t moved = 0;
    device->begin_capture(copy->stream);
    const int status =
        CALL(ucd_pack_stream)(copy->from, 1, unprepared, 0, copy->packed, elements * sizeof *input,
                              &moved, UCD_INFO__NULL, UCD_OP__REPLACE, stream_of(copy));
    device->destroy_graph(device->end_capture(copy->stream));
    require(status == UCD_ERR__NOT_SUPPORTED, "a capture without ucd_prepare");
    require(strstr(CALL(ucd_last_error)(), "ucd_prepare has not been called") != NULL,
            "the plugin's message");
    require(CALL(ucd_free)(&unprepared) == UCD_SUCCESS, "ucd_free");
}

/* A graph that keeps what its plan needs. */
static void *capture(copy_t *copy) {
    void *library = copy->library;
    device->begin_capture(copy->stream);
    const int status = CALL(ucd_plan_start_stream)(copy->plan, stream_of(copy));
    void *graph = device->end_capture(copy->stream);
    require(status == UCD_SUCCESS, "ucd_plan_start_stream");
    clear(copy);
    device->replay(graph, copy->stream);
    device->synchronise(copy->stream);
    check_packed(copy, moves, "what a graph packed");
    return graph;
}

static void end(copy_t *copy) {
    void *library = copy->library;
    require(CALL(ucd_plan_free)(&copy->plan) == UCD_SUCCESS, "ucd_plan_free");
    require(CALL(ucd_free)(&copy->type) == UCD_SUCCESS, "ucd_free");
    require(CALL(ucd_finalize)() == UCD_SUCCESS, "ucd_finalize");
    void *inside = function(library, "ucd_finalize");
    Dl_info info;
    require(dlclose(library) == 0, "unloading");
    require(dladdr(inside, &info) == 0, "it is still there");
}

static atomic_int goes_on = 1;

static void *use_all_the_time(void *copy) {
    while (goes_on) use(copy);
    return NULL;
}

int main(int count, char **arguments) {
    require(count == 3, "usage: two_openers_test LIBUCD PLUGIN");
    void *plugin = dlopen(arguments[2], RTLD_NOW);
    require(plugin != NULL, "loading the plugin");
    const device_calls_t *(*calls_of_plugin)(void) =
        (const device_calls_t *(*)(void))dlsym(plugin, "device_calls_of_plugin");
    device = calls_of_plugin != NULL ? calls_of_plugin() : cuda_calls();
    if (device == NULL) return skipped;
    char *slash = strrchr(arguments[2], '/');
    require(slash != NULL, "the plugin's folder");
    *slash = '\0';
    require(setenv("UCD_PLUGIN_PATH", arguments[2], 1) == 0, "setenv");
    for (int i = 0; i < elements * spread; ++i) input[i] = i + 1;

    static copy_t first, second;
    first.library = load_copy_of(arguments[1]);
    second.library = load_copy_of(arguments[1]);
    void *library = second.library;
    require(CALL(ucd_init)(UCD_INFO__NULL) == UCD_SUCCESS, "ucd_init");
    /* The first is the last one that opens the plugin. */
    library = first.library;
    require(CALL(ucd_init)(UCD_INFO__NULL) == UCD_SUCCESS, "ucd_init");
    if (!has_device(&first) || !has_device(&second)) {
        require(calls_of_plugin == NULL, "a backend");
        return skipped;
    }
    start(&first, 1);
    start(&second, 2);
    use(&first);
    use(&second);
    fail_with_a_message(&first);
    fail_with_a_message(&second);
    void *const graph = capture(&first);

    pthread_t thread;
    require(pthread_create(&thread, NULL, use_all_the_time, &second) == 0, "a thread");
    end(&first);
    goes_on = 0;
    require(pthread_join(thread, NULL) == 0, "the end of a thread");

    device->destroy_graph(graph);
    const struct timespec while_the_driver_tells = {0, 100 * 1000 * 1000};
    (void)nanosleep(&while_the_driver_tells, NULL);
    use(&second);
    fail_with_a_message(&second);
    device->destroy_graph(capture(&second));
    use(&second);
    end(&second);
    return 0;
}
