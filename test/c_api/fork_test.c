/* A process forks while another of its threads makes types and moves data, with handlers as the page on platforms has them:
 * each child goes on to do the same. */
#include <ucd.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t in_ucd = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) {
    pthread_mutex_lock(&in_ucd);
}

static void after_fork(void) {
    pthread_mutex_unlock(&in_ucd);
}

enum { ENTRIES = 20000 }; /* lists that are kept when their types are freed, under a lock */

/* Types of a long list, and a move with each: 0 if all is well. */
static int use_ucd(void) {
    static intptr_t displs[ENTRIES];
    static char from[3 * ENTRIES], to[ENTRIES];
    int rc = 0;
    pthread_mutex_lock(&in_ucd);
    for (int i = 0; i < ENTRIES; ++i) displs[i] = 3 * i - i % 2;
    for (int i = 0; i < ENTRIES; ++i) from[displs[i]] = (char)i;
    for (int k = 0; k < 2 && rc == 0; ++k) {
        ucd_type_t type;
        uintptr_t bytes;
        rc = ucd_create_indexed_block(ENTRIES, 1, displs, UCD_TYPE__BYTE, NULL, &type) ||
             ucd_pack(from, 1, type, 0, to, sizeof to, &bytes, NULL, UCD_OP__REPLACE) || ucd_free(&type);
        for (int i = 0; i < ENTRIES && rc == 0; ++i) rc = to[i] != (char)i;
    }
    pthread_mutex_unlock(&in_ucd);
    return rc;
}

static atomic_int stop, failed;

static void *work(void *none) {
    while (!stop)
        if (use_ucd()) failed = 1;
    return none;
}

int main(void) {
    pthread_t thread;
    if (pthread_atfork(before_fork, after_fork, after_fork) || ucd_init(NULL) || use_ucd() ||
        pthread_create(&thread, NULL, work, NULL))
        return 1;
    for (int i = 0; i < 200 && !failed; ++i) {
        const pid_t child = fork();
        if (child == 0) _exit(use_ucd());
        int status = 1;
        if (waitpid(child, &status, 0) != child || status != 0) failed = 1;
    }
    stop = 1;
    pthread_join(thread, NULL);
    if (failed) fprintf(stderr, "a child, or its parent, failed: %s\n", ucd_last_error());
    return failed || ucd_finalize();
}
