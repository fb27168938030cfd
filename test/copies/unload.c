/* Loads a library with a copy of libucd, has it used by a thread, and unloads it, twice: it is gone
 * then, although a thread that has used it still runs.
 *
 * Usage: unload LIBRARY
 */
#include "caller.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;

static void require(int holds, const char *what) {
    if (holds) return;
    const char *why = dlerror();
    fprintf(stderr, "unload: %s: %s\n", what, why != NULL ? why : "");
    exit(1);
}

static void *use(void *caller) {
    ((const caller_t *)caller)->use();
    pthread_barrier_wait(&barrier); /* it has used the library */
    pthread_barrier_wait(&barrier); /* the library is gone */
    return NULL;
}

static void load_and_unload(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    require(library != NULL, "loading");
    const caller_t *(*find)(void) = (const caller_t *(*)(void))dlsym(library, "library_caller");
    require(find != NULL, "library_caller");
    const caller_t *caller = find();
    pthread_t thread;
    caller->start();
    require(pthread_create(&thread, NULL, use, (void *)caller) == 0, "a thread");
    pthread_barrier_wait(&barrier);
    caller->end();
    require(dlclose(library) == 0, "unloading");
    require(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL, "the library is still there");
    require(dlopen("libucd.so.1", RTLD_NOW | RTLD_NOLOAD) == NULL, "libucd is still there");
    pthread_barrier_wait(&barrier);
    require(pthread_join(thread, NULL) == 0, "the end of the thread");
}

int main(int count, char **arguments) {
    require(count == 2, "usage: unload LIBRARY");
    require(pthread_barrier_init(&barrier, NULL, 2) == 0, "a barrier");
    for (int round = 0; round < 2; ++round) load_and_unload(arguments[1]);
    puts("done");
    return 0;
}
