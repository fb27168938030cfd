#include "team.h"

#include "complain.h"
#include "now.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t team_bytes(int size) {
    return sizeof(struct team) + (size_t)size * sizeof(struct team_member);
}

struct team *team_make(int size) {
    struct team *team =
        mmap(NULL, team_bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (team == MAP_FAILED) {
        complain("cannot share memory between processes: %s", strerror(errno));
        return NULL;
    }
    team->size = size; /* all else is 0 in a new mapping */
    return team;
}

void team_free(struct team *team) {
    if (team) munmap(team, team_bytes(team->size)); /* cannot fail for our own range */
}

void team_barrier(struct team *team, void (*progress)(void *), void *argument) {
    int passed = atomic_load(&team->barriers);
    if (atomic_fetch_add(&team->waiting, 1) + 1 == team->size) {
        atomic_store(&team->waiting, 0);
        atomic_store(&team->barriers, passed + 1);
        return;
    }
    while (atomic_load(&team->barriers) == passed) {
        progress(argument);
        sched_yield(); /* there may be more processes than cores */
    }
}

static void report_end(int rank, int status) {
    if (WIFSIGNALED(status))
        complain("process %d was ended by signal %d (%s)", rank, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        complain("process %d failed with exit status %d", rank, WEXITSTATUS(status));
}

static int rank_of(const pid_t *pids, int size, pid_t pid) {
    for (int rank = 0; rank < size; rank++)
        if (pids[rank] == pid) return rank;
    return -1;
}

static void end_all(const pid_t *pids, int size) {
    for (int rank = 0; rank < size; rank++)
        if (pids[rank] > 0) kill(pids[rank], SIGKILL); /* not reaped yet, so the id is still its */
    for (int rank = 0; rank < size; rank++)
        while (pids[rank] > 0 && waitpid(pids[rank], NULL, 0) < 0 && errno == EINTR) continue;
}

/* Starts one process; does not return in it. */
static pid_t start(int rank, int (*body)(int rank, void *argument), void *argument) {
    pid_t starter = getpid();
    pid_t pid = fork();
    if (pid != 0) return pid;
    /* If the starter is killed, nobody would end this process: let the kernel do it. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != starter) _exit(EXIT_FAILURE);
    int status = body(rank, argument);
    if (fflush(NULL) != 0) status = EXIT_FAILURE;
    exit(status);
}

/* Waits for those that have ended, and counts them in *ended. False if one failed; all that did are
 * named, since the first to be found need not be the first that failed. */
static bool collect(pid_t *pids, int size, int *ended) {
    bool good = true;
    for (;;) {
        int status;
        const pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0 || (pid < 0 && errno == ECHILD)) return good;
        if (pid < 0 && errno != EINTR)
            return complain("cannot wait for the processes: %s", strerror(errno));
        const int rank = pid > 0 ? rank_of(pids, size, pid) : -1;
        if (rank < 0) continue;
        pids[rank] = 0;
        ++*ended;
        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) continue;
        report_end(rank, status);
        good = false;
    }
}

static uint64_t after(int seconds) {
    return now_ns() + (uint64_t)seconds * UINT64_C(1000000000);
}

static void report_unaware(const pid_t *pids, int size) {
    for (int rank = 0; rank < size; rank++)
        if (pids[rank] > 0) complain("process %d has noticed nothing", rank);
}

/* Waits until all have ended, one has failed and patience is over, or the time is up. */
static bool wait_all(pid_t *pids, int size, void (*watch)(void *watched), void *watched,
                     int timeout_seconds, int patience_seconds) {
    uint64_t deadline = after(timeout_seconds);
    const struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};
    int ended = 0;
    bool good = true;
    for (;;) {
        if (!collect(pids, size, &ended) && good) {
            good = false;
            deadline = after(patience_seconds);
        }
        watch(watched);
        if (ended == size) return good;
        if (now_ns() > deadline) break;
        nanosleep(&nap, NULL);
    }
    if (good) return complain("the processes have not finished after %d s", timeout_seconds);
    if (patience_seconds > 0) report_unaware(pids, size);
    return false;
}

bool team_run(struct team *team, int (*body)(int rank, void *argument), void *argument,
              void (*watch)(void *watched), void *watched, int timeout_seconds,
              int patience_seconds) {
    pid_t *pids = calloc((size_t)team->size, sizeof *pids);
    if (!pids) return complain("no memory for %d processes", team->size);
    bool good = fflush(NULL) == 0; /* else each process would print what is still buffered */
    if (!good) complain("cannot write to standard output: %s", strerror(errno));
    for (int rank = 0; rank < team->size && good; rank++) {
        pids[rank] = start(rank, body, argument);
        if (pids[rank] < 0) good = complain("cannot start process %d: %s", rank, strerror(errno));
    }
    good = good && wait_all(pids, team->size, watch, watched, timeout_seconds, patience_seconds);
    if (!good) end_all(pids, team->size);
    free(pids);
    return good;
}
