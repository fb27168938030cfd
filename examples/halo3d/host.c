#include "host.h"

#include "complain.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* The name of number index, counted from 0, and around. */
static const char *name_at(const char *names, int index, int *length) {
    int count = 1;
    for (const char *c = names; *c; c++) count += *c == ',';
    for (index %= count; index > 0; index--) names = strchr(names, ',') + 1;
    *length = (int)strcspn(names, ",");
    return names;
}

/* UCX looks for devices in /sys, which shows those of the namespace that it was mounted in: it is
 * mounted again, for this process alone. */
static bool see_devices(void) {
    return unshare(CLONE_NEWNS) == 0 && mount("", "/", "none", MS_SLAVE | MS_REC, NULL) == 0 &&
           mount("halo3d", "/sys", "sysfs", 0, NULL) == 0;
}

bool host_enter(const char *hosts, int rank) {
    if (!hosts) return true;
    int length;
    const char *name = name_at(hosts, rank, &length);
    char path[256];
    snprintf(path, sizeof path, "/run/netns/%.*s", length, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return complain("--hosts: %s: %s", path, strerror(errno));
    const bool good = setns(fd, CLONE_NEWNET) == 0 && see_devices();
    const int why = errno;
    close(fd);
    return good || complain("--hosts: cannot enter %s: %s", path, strerror(why));
}
