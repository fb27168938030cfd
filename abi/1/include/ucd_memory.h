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

/* Frees memory that ucd_memory_alloc returned. No outstanding work may use it. May wait for the
 * device. An address that is NULL is SUCCESS.
 * Returns: NOT_INITIALIZED, INVALID_ARG (not such memory), INTERNAL. */
UCD_API int ucd_memory_free(void *address);

/* A handle with which another process can open a range of device memory. It is plain bytes, which
 * may be sent by any means. */
typedef struct {
    unsigned char bytes[128];
} ucd_ipc_handle_t;

/* Fills in *handle for a range of device memory, which must lie in one allocation (by
 * ucd_memory_alloc or by the program). Memory that other processes open by file descriptors is
 * exported by ucd_ipc_export_fds. A process that has the handle can read and write the whole
 * allocation as long as it exists, and other allocations in the same pages of device memory.
 * Exporting allocates no memory and cannot be undone. With Level Zero it opens one file
 * descriptor for each allocation. ucd_memory_free closes it; if the program allocated the memory,
 * the next export after the memory was freed closes it.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: bytes is 0; the range is not in an allocation of
 * device memory), NOT_SUPPORTED (the backend cannot share memory; managed memory), DEVICE (the
 * driver refuses, since it does not share every kind of allocation), INTERNAL. */
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

/* Writes the name of the device of this process on which the memory of a handle is to the string
 * device ("cuda:0"), whoever exported it. With several devices, it is that of the range's first
 * byte. The memory need not be open; once it is, ucd_get_memory may name the device that opened it
 * instead. 32 bytes always suffice (Lengths in ucd.h). May initialise the device's driver. The
 * handle need not be trusted. It has 16 bits for the device, which are the same for another device
 * of the machine once in 65,535; what a UCD before 1.0 has put there may fit a device as rarely.
 * Returns: NOT_INITIALIZED, INVALID_ARG, CORRUPT (not a handle of ucd_ipc_export), NOT_SUPPORTED (a
 * handle of another machine; this process does not see the device; the device is not known, because
 * the backend cannot tell, the handle is of a UCD before 1.0, or the bits fit several devices),
 * TRUNCATED, DEVICE, INTERNAL. */
UCD_API int ucd_ipc_get_device(const ucd_ipc_handle_t *handle, char *device, uintptr_t device_size,
                               uintptr_t *needed);

/* Closes a range once: each ucd_ipc_open and ucd_ipc_open_fds that returned this address needs one
 * ucd_ipc_close. No outstanding work may use the range. May wait for the device.
 * Returns: NOT_INITIALIZED, INVALID_ARG (nothing is open there), INTERNAL. */
UCD_API int ucd_ipc_close(void *address);

/* The most file descriptors of a range: as many as one message of a UNIX socket carries. */
enum { UCD_IPC__MAX_FDS = 253 };

/* Same as ucd_ipc_export, for device memory of every kind that a driver shares:
 *
 * - Memory of ucd_memory_alloc, cudaMalloc and the like: *count becomes 0. The handle is all that
 *   the other process needs.
 * - Physical memory that the program has mapped (cuMemCreate and cuMemMap; also what PyTorch calls
 *   expandable segments). The range may extend over any number of pieces that are mapped one behind
 *   the other. *count becomes the number of pieces, at most UCD_IPC__MAX_FDS, and fds gets a
 *   descriptor of each. The program must have made the memory with the handle type
 *   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.
 * - Memory of a stream-ordered pool with that handle type. fds gets a descriptor of the pool, and
 *   *count becomes 1. The allocation must have completed in its stream.
 *
 * On entry, *count is the number of descriptors that fds has room for. With 0, or if fds is NULL,
 * no descriptors are made, and only *handle and *count are set. With other room that does not
 * suffice, only *count is set: TRUNCATED. As long as this process does not free or unmap the
 * memory, or map other memory there, the handle of a range is always the same; if it does, the next
 * one differs. So a caller can tell whether descriptors that were sent are still those of the
 * range.
 *
 * The descriptors belong to the caller, who passes them to the other process (SCM_RIGHTS; unix(7))
 * and closes them. They are close-on-exec. Each gives whoever has it the right to read and write
 * its whole piece of memory, or all memory of the pool, and cannot be revoked. As long as any
 * process has a descriptor of a piece, or has opened it, the device's memory is not free.
 *
 * Returns: as ucd_ipc_export; TRUNCATED; INVALID_ARG also if *count is negative, or if no memory is
 * mapped in a part of the range; NOT_SUPPORTED also for memory that was made without that handle
 * type, for more pieces than UCD_IPC__MAX_FDS, and if the pieces are more than 8 runs of one size
 * each. Level Zero and HIP support only the first of the three kinds. */
UCD_API int ucd_ipc_export_fds(const void *address, uintptr_t bytes, ucd_ipc_handle_t *handle,
                               int *fds, int *count);

/* Same as ucd_ipc_open, for a range that was exported by ucd_ipc_export_fds. The descriptors are
 * those that came with the handle, in the same order. They remain the caller's, who may close them
 * after the call. Neither they nor the handle need be trusted: a range is opened only if the driver
 * confirms that the memory has at least its bytes.
 *
 * What is opened of mapped physical memory holds a reference of its own: it stays valid if its
 * owner unmaps or frees the memory, or ends. Memory of pools must be closed before its owner frees
 * it, as with ucd_ipc_open. In the process that exported the range, *address is the original
 * address, and nothing is held.
 *
 * Returns: as ucd_ipc_open; INVALID_ARG also if a descriptor is not open; CORRUPT also if the
 * handle does not fit the number of descriptors; DEVICE also if a descriptor is not that of such
 * memory, or if the memory is too small. */
UCD_API int ucd_ipc_open_fds(const ucd_ipc_handle_t *handle, const int *fds, int count,
                             const char *device, void **address, uintptr_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* UCD_MEMORY_H_INCLUDED */
