/* Several copies of libucd in one process, as when an MPI library and a program each bring their
 * own: one linked into the program, which exports its functions, one that is loaded for all to see,
 * and two that are loaded each for itself. Threads use them at once. What one copy does, its end
 * included, is nothing to the others.
 *
 * Usage: two_copies_test LIBUCD
 */
#define _POSIX_C_SOURCE 200809L /* mkstemp, which C11 does not have */
#include "copied_library.h"

#include <pthread.h>

enum { copies = 4, elements = 1000, rounds = 300 };

typedef struct {
    void *library; /* where its functions are looked up */
    int stride;    /* each copy has a layout of its own */
    ucd_type_t type;
} copy_t;

static int input[elements * (copies + 1)];

static void start(copy_t *copy) {
    void *library = copy->library;
    require(CALL(ucd_init)(UCD_INFO__NULL) == UCD_SUCCESS, "ucd_init");
    require(CALL(ucd_create_vector)(elements, 1, copy->stride, UCD_TYPE__INT, UCD_INFO__NULL,
                                    &copy->type) == UCD_SUCCESS,
            "ucd_create_vector");
}

static void end(copy_t *copy) {
    void *library = copy->library;
    require(CALL(ucd_free)(&copy->type) == UCD_SUCCESS, "ucd_free");
    require(CALL(ucd_finalize)() == UCD_SUCCESS, "ucd_finalize");
}

static void *use(void *argument) {
    copy_t *copy = argument;
    void *library = copy->library;
    for (int round = 0; round < rounds; ++round) {
        int output[elements] = {0};
        uintptr_t moved = 0, size = 0;
        require(CALL(ucd_pack)(input, 1, copy->type, 0, output, sizeof output, &moved,
                               UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS,
                "ucd_pack");
        require(moved == sizeof output, "how much was packed");
        for (int i = 0; i < elements; ++i)
            require(output[i] == i * copy->stride, "what was packed");

        ucd_type_t several = UCD_TYPE__NULL;
        require(CALL(ucd_create_contig)(copy->stride, copy->type, UCD_INFO__NULL, &several) ==
                    UCD_SUCCESS,
                "ucd_create_contig");
        require(CALL(ucd_get_size)(several, &size) == UCD_SUCCESS, "ucd_get_size");
        require(size == copy->stride * sizeof output, "the size of several");
        require(CALL(ucd_free)(&several) == UCD_SUCCESS, "ucd_free");
    }
    return NULL;
}

static void use_at_once(copy_t *first, int number) {
    pthread_t threads[copies];
    for (int i = 0; i < number; ++i)
        require(pthread_create(&threads[i], NULL, use, &first[i]) == 0, "a thread");
    for (int i = 0; i < number; ++i)
        require(pthread_join(threads[i], NULL) == 0, "the end of a thread");
}

int main(int count, char **arguments) {
    require(count == 2, "usage: two_copies_test LIBUCD");
    for (int i = 0; i < elements * (copies + 1); ++i) input[i] = i;
    copy_t all[copies] = {{dlopen(NULL, RTLD_NOW), 2, UCD_TYPE__NULL},
                          {dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL), 3, UCD_TYPE__NULL},
                          {load_copy_of(arguments[1]), 4, UCD_TYPE__NULL},
                          {load_copy_of(arguments[1]), 5, UCD_TYPE__NULL}};
    for (int i = 0; i < copies; ++i) {
        require(all[i].library != NULL, "loading");
        for (int k = 0; k < i; ++k)
            require(function(all[i].library, NAME_OF(ucd_pack)) !=
                        function(all[k].library, NAME_OF(ucd_pack)),
                    "two are one");
    }
    for (int i = 0; i < copies; ++i) start(&all[i]);
    use_at_once(all, copies);
    for (int left = copies; left > 0;) {
        end(&all[--left]);
        require(dlclose(all[left].library) == 0, "unloading");
        use_at_once(all, left);
    }
    return 0;
}
