/* Says of the driver's file what UCD_STAND_IN_KFD says: "there", "forbidden" or nothing. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int access(const char *name, int mode) {
    const char *state = getenv("UCD_STAND_IN_KFD");
    if (state != NULL && strcmp(name, "/dev/kfd") == 0) {
        errno = strcmp(state, "forbidden") == 0 ? EACCES : ENOENT;
        return strcmp(state, "there") == 0 ? 0 : -1;
    }
    int (*real)(const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "access");
    return real(name, mode);
}
