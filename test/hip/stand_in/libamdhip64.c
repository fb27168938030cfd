/* What stands in for HIP's runtime where the backend is tested for what it says of a driver or a
 * device that will not do. UCD_STAND_IN says which; each call is a line in the file
 * UCD_STAND_IN_LOG. There is no device behind it: whoever wants to use one is refused. */

#include <hip/hip_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *what) {
    const char *wanted = getenv("UCD_STAND_IN");
    return wanted != NULL && strcmp(wanted, what) == 0;
}

static void log_call(const char *function) {
    const char *name = getenv("UCD_STAND_IN_LOG");
    FILE *file = name != NULL ? fopen(name, "a") : NULL;
    if (file == NULL) return;
    fprintf(file, "%s\n", function);
    fclose(file);
}

const char *hipGetErrorString(hipError_t error) {
    return error == hipErrorInsufficientDriver ? "driver too old"
           : error == hipErrorOutOfMemory      ? "out of memory"
                                               : "some error";
}

hipError_t hipGetLastError(void) {
    return hipSuccess;
}

hipError_t hipGetDeviceCount(int *count) {
    log_call(__func__);
    *count = is("two") ? 2 : 1;
    return is("old") ? hipErrorInsufficientDriver : is("no device") ? hipErrorNoDevice : hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device) {
    const int foreign = is("foreign") || (is("two") && device == 0);
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "stand-in");
    snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s:sramecc+:xnack-",
             foreign ? "gfx600" : UCD_STAND_IN_ARCHITECTURE);
    return is("silent") ? hipErrorInvalidDevice : hipSuccess;
}

hipError_t hipRuntimeGetVersion(int *version) {
    *version = 50712345;
    return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
    (void)attribute, (void)device;
    *value = 0;
    return hipSuccess;
}

hipError_t hipGetDevice(int *device) {
    log_call(__func__);
    *device = -1;
    return hipSuccess;
}

hipError_t hipSetDevice(int device) {
    (void)device;
    log_call(__func__);
    return is("full") ? hipErrorOutOfMemory : hipErrorInvalidDevice;
}

/* Kernels are registered when the plugin is loaded. */
void *__hipRegisterFatBinary(const void *binary);
void *__hipRegisterFatBinary(const void *binary) {
    static void *handle;
    (void)binary;
    return &handle;
}
#define IGNORED(name)                                                                              \
    void name(void);                                                                               \
    void name(void) {}
IGNORED(__hipRegisterFunction)
IGNORED(__hipUnregisterFatBinary)
