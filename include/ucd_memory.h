/*
 * ucd_memory.h - device memory: allocation without a vendor's headers, sharing between processes.
 *
 * For libraries over UCD, such as libucd-ucx, that stage data in device or pinned memory, or that
 * move data between devices of two processes. The conventions of ucd.h hold.
 *
 * A device is named as in the hints ucd.inbuf and ucd.outbuf: a backend's name, a colon, and the
 * device's number ("cuda:0"). The CPU's backend, seq, neither allocates nor shares memory.
 */
#ifndef UCD_MEMORY_H_INCLUDED
#define UCD_MEMORY_H_INCLUDED

#include <ucd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    UCD_MEMORY__DEVICE = 0, /* on the device */
    UCD_MEMORY__PINNED      /* host memory that the device accesses directly */
};

/* Allocates memory of the given kind and size, and sets *address. May initialise the device's
 * driver and wait for the device. The caller frees the memory with ucd_memory_free; the last
 * ucd_finalize frees what is left.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: bytes is 0; kind is invalid; device is not the name
 * of a device), NOT_SUPPORTED (backend or device is not available),
 * OUT_OF_MEM, DEVICE, INTERNAL. */
UCD_API int ucd_memory_alloc(const char *device, int kind, uintptr_t bytes, void **address);

/* Frees memory that ucd_memory_alloc returned. No outstanding work may use it. NULL is allowed. May
 * wait for the device.
 * Returns: NOT_INITIALIZED, INVALID_ARG (not such memory), INTERNAL. */
UCD_API int ucd_memory_free(void *address);

/* A handle with which another process can open a range of device memory. It is plain bytes, which
 * may be sent by any means. */
typedef struct {
    unsigned char bytes[128];
} ucd_ipc_handle_t;

/* Fills in *handle for a range of device memory, which must lie in one allocation (by
 * ucd_memory_alloc or by the program). A process that has the handle can read and write the whole
 * allocation as long as it exists, and other allocations in the same pages of device memory.
 * Exporting allocates no memory and cannot be undone. With Level Zero it opens one file
 * descriptor for each allocation. ucd_memory_free closes it; if the program allocated the memory,
 * the next export after the memory was freed closes it.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: bytes is 0; the range is not in an allocation of
 * device memory), NOT_SUPPORTED (the backend cannot share memory), DEVICE (the driver refuses,
 * since it does not share every kind of allocation), INTERNAL. */
UCD_API int ucd_ipc_export(const void *address, uintptr_t bytes, ucd_ipc_handle_t *handle);

/* Opens an exported range for use by device, which must be in the same machine. Sets *address and
 * *bytes. The device can access the range like its own memory, so hints may name that device. In
 * the process that exported the range, *address is the original address. The caller closes the
 * range with ucd_ipc_close before its owner frees the memory; the last ucd_finalize closes what is
 * left. May initialise the device's driver and wait for the device. The handle need not be trusted.
 * With Level Zero, a handle names a file descriptor of the other process, which is duplicated from
 * there. That needs Linux 5.6 and permission to debug that process (ptrace(2)).
 * Returns: NOT_INITIALIZED, INVALID_ARG, CORRUPT (not a handle of ucd_ipc_export, or one of an
 * allocation of this process that was freed), NOT_SUPPORTED (a handle of another machine or
 * backend; the device cannot access that memory), OUT_OF_MEM, DEVICE (the driver refuses; for
 * instance, the other process has ended, or has freed the memory), INTERNAL. */
UCD_API int ucd_ipc_open(const ucd_ipc_handle_t *handle, const char *device, void **address,
                         uintptr_t *bytes);

/* Closes a range once: each ucd_ipc_open that returned this address needs one ucd_ipc_close. No
 * outstanding work may use the range. May wait for the device.
 * Returns: NOT_INITIALIZED, INVALID_ARG (nothing is open there), INTERNAL. */
UCD_API int ucd_ipc_close(void *address);

#ifdef __cplusplus
}
#endif

#endif /* UCD_MEMORY_H_INCLUDED */
