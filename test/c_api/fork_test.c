/* A process forks while another of its threads makes types and moves data, with handlers as the
 * page on platforms has them: each child goes on to do the same, and starts a plan of its parent.
 */
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
             ucd_pack(from, 1, type, 0, to, sizeof to, &bytes, NULL, UCD_OP__REPLACE) ||
             ucd_free(&type);
        for (int i = 0; i < ENTRIES && rc == 0; ++i) rc = to[i] != (char)i;
    }
    pthread_mutex_unlock(&in_ucd);
    return rc;
}

/* A plan of the parent: a pack, an unpack and a copy of every second number. */
enum { NUMBERS = 1000 };
static int64_t numbers[2 * NUMBERS], packed[NUMBERS], unpacked[2 * NUMBERS], copied[2 * NUMBERS];
static ucd_plan_t plan = UCD_PLAN__NULL;

static int make_plan(void) {
    ucd_type_t type;
    int rc = ucd_create_vector(NUMBERS, 1, 2, UCD_TYPE__INT64_T, NULL, &type);
    if (rc) return rc;
    ucd_move_t moves[3] = {UCD_MOVE__INIT, UCD_MOVE__INIT, UCD_MOVE__INIT};
    void *const outs[] = {packed, unpacked, copied};
    for (int i = 0; i < 3; ++i) {
        moves[i].inbuf = numbers;
        moves[i].outbuf = outs[i];
        moves[i].incount = moves[i].outcount = 1;
        moves[i].intype = moves[i].outtype = type;
    }
    moves[0].outtype = moves[1].intype = UCD_TYPE__NULL;
    moves[0].outcount = moves[1].incount = sizeof packed;
    rc = ucd_plan_create(moves, 3, NULL, UCD_OP__REPLACE, &plan);
    return ucd_free(&type) || rc;
}

/* Starts the plan with numbers from `first` on, with `to` as the packed buffer: 0 if all is well.
 */
static int start_plan(int64_t first, int64_t *to) {
    void *const outbuf = to;
    ucd_request_t request = UCD_REQUEST__NULL;
    pthread_mutex_lock(&in_ucd);
    for (int64_t i = 0; i < 2 * NUMBERS; ++i) numbers[i] = first + i;
    int rc = ucd_plan_rebase(plan, 0, 1, NULL, &outbuf) || ucd_plan_start(plan, &request) ||
             ucd_wait(&request);
    for (int64_t i = 0; i < NUMBERS && rc == 0; ++i)
        rc = to[i] != first + 2 * i || unpacked[2 * i] != first + i ||
             copied[2 * i] != first + 2 * i;
    pthread_mutex_unlock(&in_ucd);
    return rc;
}

/* What a child does: it has the parent's types and plan as they were. */
static int be_child(int64_t number) {
    static int64_t own[NUMBERS];
    return use_ucd() || start_plan(number, packed) || start_plan(-number, own) ||
           ucd_plan_free(&plan) || plan != UCD_PLAN__NULL;
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
        make_plan() || pthread_create(&thread, NULL, work, NULL))
        return 1;
    for (int i = 0; i < 200 && !failed; ++i) {
        const pid_t child = fork();
        if (child == 0) _exit(be_child(i));
        int status = 1;
        if (waitpid(child, &status, 0) != child || status != 0 || start_plan(1000 * i, packed))
            failed = 1;
    }
    stop = 1;
    pthread_join(thread, NULL);
    if (failed) fprintf(stderr, "a child, or its parent, failed: %s\n", ucd_last_error());
    return failed || ucd_plan_free(&plan) || ucd_finalize();
}
