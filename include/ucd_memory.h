/*
 * ucd_memory.h - memory of devices: had without a vendor's headers, and shared between processes.
 *
 * For libraries on top of UCD, such as libucd-ucx, that stage data in device or pinned memory, or
 * that move it from a device of one process to a device of another. The conventions of ucd.h hold.
 *
 * A device is named as in the hints ucd.inbuf and ucd.outbuf: a backend's name, a colon, and the
 * device's number ("cuda:0"). The host's backend has no memory to give and none to share.
 */
#ifndef UCD_MEMORY_H_INCLUDED
#define UCD_MEMORY_H_INCLUDED

#include <ucd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    UCD_MEMORY__DEVICE = 0, /* on the device */
    UCD_MEMORY__PINNED      /* on the host, and reached by the device directly */
};

/* Allocates bytes of memory, and sets *address. May initialise the device's driver, and wait for
 * the device. The memory is the caller's, to be ended with ucd_memory_free; the last ucd_finalize
 * ends what is left. Returns: NOT_INITIALIZED, INVALID_ARG (also: bytes is 0; no such kind; device
 * names no device), NOT_SUPPORTED (a backend or device that is not available), OUT_OF_MEM, DEVICE,
 * INTERNAL. */
UCD_API int ucd_memory_alloc(const char *device, int kind, uintptr_t bytes, void **address);

/* Ends memory of ucd_memory_alloc, which no work uses any more. NULL is ended already. May wait for
 * the device. Returns: NOT_INITIALIZED, INVALID_ARG (not such memory), INTERNAL. */
UCD_API int ucd_memory_free(void *address);

/* Lets another process open a range of device memory. Only bytes: it may be sent to it by any
 * means. */
typedef struct {
    unsigned char bytes[128];
} ucd_ipc_handle_t;

/* Fills in *handle, for bytes of device memory from address on, which lie in one allocation: of
 * ucd_memory_alloc, or the user's own. Whoever has the handle may read and write the whole
 * allocation for as long as it exists, and what shares pages of device memory with it. Opens
 * nothing, and has no end.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: bytes is 0; the range is in no allocation of a
 * device), NOT_SUPPORTED (the backend cannot share memory), DEVICE (the driver refuses: it does not
 * share every kind of allocation), INTERNAL. */
UCD_API int ucd_ipc_export(const void *address, uintptr_t bytes, ucd_ipc_handle_t *handle);

/* Makes the range that a handle stands for usable by device, which is of the same machine, at
 * *address; *bytes is its length. The device reaches it like its own memory: hints may say so. In
 * the process that exported it, *address is what it was there. To be ended with ucd_ipc_close,
 * before the memory itself is; the last ucd_finalize ends what is left. May initialise the device's
 * driver, and wait for the device. The handle's bytes may come from anyone. Returns:
 * NOT_INITIALIZED, INVALID_ARG, CORRUPT (bytes that no ucd_ipc_export wrote, or of an allocation of
 * this process that has gone), NOT_SUPPORTED (of another machine or backend; this device cannot
 * reach that memory), OUT_OF_MEM, DEVICE (the driver refuses: so if the other process or its
 * allocation has gone, or this device cannot reach that memory), INTERNAL. */
UCD_API int ucd_ipc_open(const ucd_ipc_handle_t *handle, const char *device, void **address,
                         uintptr_t *bytes);

/* Ends one ucd_ipc_open that gave out address; no work uses it any more. May wait for the device.
 * Returns: NOT_INITIALIZED, INVALID_ARG (nothing is open there), INTERNAL. */
UCD_API int ucd_ipc_close(void *address);

#ifdef __cplusplus
}
#endif

#endif /* UCD_MEMORY_H_INCLUDED */
