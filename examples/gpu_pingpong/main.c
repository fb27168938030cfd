/* Two processes that send data between their GPUs' memories, there and back. See README.md. */

#include "../fail.h"
#include "measure.h"
#include "options.h"
#include "wire.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(const struct options *options, struct shared *shared, int rank) {
    ucd(ucd_init(UCD_INFO__NULL));
    struct wire wire;
    wire_open(&wire, shared, rank);
    measure_all(options, &wire);
    wire_close(&wire);
    ucd(ucd_finalize());
}

/* Drivers and UCX do not survive a fork, so nothing of them is there yet. */
static pid_t start(const struct options *options, struct shared *shared, int rank) {
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0) fail("cannot start a process: %s", strerror(errno));
    if (pid > 0) return pid;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(EXIT_FAILURE);
    run(options, shared, rank);
    exit(fflush(NULL) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

int main(int argc, char **argv) {
    struct options options;
    options_parse(argc, argv, &options);
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* zeros */
    if (shared == MAP_FAILED) fail("cannot share memory: %s", strerror(errno));
    pid_t processes[2];
    for (int rank = 0; rank < 2; ++rank) processes[rank] = start(&options, shared, rank);
    bool good = true;
    for (int ended = 0; ended < 2; ++ended) {
        int status;
        const pid_t pid = wait(&status);
        if (pid < 0) fail("cannot wait for the processes: %s", strerror(errno));
        const int rank = pid == processes[1];
        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) continue;
        if (WIFSIGNALED(status) && good)
            fprintf(stderr, "gpu_pingpong: process %d was ended by signal %d (%s)\n", rank,
                    WTERMSIG(status), strsignal(WTERMSIG(status)));
        if (good && ended == 0) kill(processes[1 - rank], SIGKILL); /* it would wait for ever */
        good = false;
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
