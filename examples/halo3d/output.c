#include "output.h"

#include "complain.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a signal removes: the process that made it does so, and not those that it started. */
static const char *volatile incomplete;
static pid_t maker;

static void on_signal(int number) {
    if (incomplete && getpid() == maker) unlink(incomplete);
    signal(number, SIG_DFL);
    raise(number); /* blocked until this returns; then it ends the process */
}

static void remove_on_signals(const char *path) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    maker = getpid();
    incomplete = path;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (signal(numbers[i], on_signal) == SIG_IGN) signal(numbers[i], SIG_IGN);
}

/* What a plain open would refuse, and what must not be renamed over. */
static bool may_replace(const char *path, const struct stat *old) {
    if (!S_ISREG(old->st_mode)) return complain("%s: it is no regular file", path);
    return access(path, W_OK) == 0 || complain("%s: cannot make it: %s", path, strerror(errno));
}

static bool make_names(const char *path, struct output *output) {
    output->place = realpath(path, NULL); /* the file that a symbolic link leads to */
    if (!output->place) output->place = strdup(path);
    if (output->place &&
        asprintf(&output->beside, "%s.%ld.part", output->place, (long)getpid()) < 0)
        output->beside = NULL;
    return output->beside || complain("no memory for the name of %s", path);
}

int output_make(const char *path, struct output *output) {
    *output = (struct output){0};
    struct stat old;
    const bool replaces = stat(path, &old) == 0;
    if ((replaces && !may_replace(path, &old)) || !make_names(path, output)) {
        output_end(output);
        return -1;
    }
    remove_on_signals(output->beside);
    const int file = open(output->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 && (!replaces || fchmod(file, old.st_mode & 0777) == 0)) return file;
    complain("%s: cannot make it: %s", path, strerror(errno));
    if (file >= 0) close(file);
    output_end(output);
    return -1;
}

bool output_put_in_place(struct output *output) {
    /* Data reaches the disk when the system writes it there: this is no database. */
    if (rename(output->beside, output->place) != 0)
        return complain("%s: cannot put it in its place: %s", output->place, strerror(errno));
    incomplete = NULL;
    free(output->beside);
    output->beside = NULL;
    return true;
}

void output_end(struct output *output) {
    if (output->beside) unlink(output->beside);
    incomplete = NULL;
    free(output->beside);
    free(output->place);
    *output = (struct output){0};
}
