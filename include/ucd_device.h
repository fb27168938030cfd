/*
 * ucd_device.h - plans for kernels: device code moves data of any type, from inside a kernel.
 *
 * The host turns (count, type) into a plan, which is plain bytes and is passed to kernels by value.
 * Device code then packs, unpacks and copies any range of bytes of it, with a thread, a warp, a
 * block or a grid. There is no library to link in device code. docs/guide/inside-kernels.md
 * introduces it. The conventions of ucd.h hold for the functions of the host.
 *
 * The part for the host is C11. The part for device code is C++17; CUDA's and HIP's compilers see
 * it.
 */
#ifndef UCD_DEVICE_H_INCLUDED
#define UCD_DEVICE_H_INCLUDED

#include <ucd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the plan's bytes. It is raised whenever these, or their meaning, change. */
#define UCD_DEVICE_PLAN__VERSION 1
#define UCD_DEVICE_PLAN__MAX_LEVELS 4

/* A level of a plan: children at equal distances or by a list. */
typedef struct {
    uint64_t each;         /* packed bytes of a child */
    int64_t stride;        /* bytes from child to child */
    uint32_t magic, shift; /* for divisions by `each`, if that is less than 2^31 */
} ucd_device_level_t;

/* A list in device memory. */
typedef struct {
    uint64_t displacements, first, starts;
    uint32_t displacement_unit, granule;
} ucd_device_list_t;

/* A plan. Before ucd_device_plan_create, the caller sets the first two members, or the whole plan
 * to UCD_DEVICE_PLAN__INIT; so the library knows which version of this header device code is
 * compiled with. What the other members mean is the library's own business; only `bytes` is for
 * callers. A plan may be copied, also to device memory, and sent to other threads. */
typedef struct ucd_device_plan {
    uint32_t struct_size; /* sizeof(ucd_device_plan_t) */
    uint32_t version;     /* UCD_DEVICE_PLAN__VERSION */
    uint64_t bytes;       /* of the packed stream */
    int64_t origin;
    uint64_t memory; /* the lists, for ucd_device_plan_free; 0: there are none */
    uint8_t levels, word, row, store_levels;
    uint8_t kind[UCD_DEVICE_PLAN__MAX_LEVELS];
    ucd_device_level_t level[UCD_DEVICE_PLAN__MAX_LEVELS];
    union {
        ucd_device_list_t list[UCD_DEVICE_PLAN__MAX_LEVELS - 1]; /* of the outer levels */
        struct {
            uint64_t lists, nodes;
            uint32_t root, unused;
        } walk;
    } at;
    uint64_t stores;
    uint32_t store_count, store_magic, store_shift, unused;
} ucd_device_plan_t;

#define UCD_DEVICE_PLAN__INIT                                                                      \
    { sizeof(ucd_device_plan_t), UCD_DEVICE_PLAN__VERSION }

/* Makes a plan of (count, type) for kernels on `device`, which is named as in ucd_memory.h
 * ("cuda:0"). Sets all members of *plan.
 *
 * Layouts of up to four strided levels need no device memory: their plans are valid on every device
 * of the backend, may be copied at will, and need not be freed. Other layouts have lists in the
 * memory of `device`, which belongs to the plan: it is for kernels on this device, or on devices
 * that reach its memory. The lists of ucd_create_indexed_block_ref are not copied: the plan has the
 * caller's address, which kernels read when data moves, so the list must be memory that the device
 * reaches. The type may be freed at once, and the list not before the last kernel has ended.
 *
 * May initialise the device's driver and wait for the device. `info` is for future keys.
 * Returns: NOT_INITIALIZED, INVALID_ARG (also: plan's struct_size is 0; device is not the name of
 * a device; the type is TYPE__NULL), NOT_SUPPORTED (plan's version or size is not the library's;
 * backend or device is not available; the backend has no kernels for it: Level Zero),
 * OVERFLOW (count and type), OUT_OF_MEM, DEVICE, INTERNAL. *plan is unchanged then. */
UCD_API int ucd_device_plan_create(uintptr_t count, ucd_type_t type, const char *device,
                                   ucd_info_t info, ucd_device_plan_t *plan);

/* Frees the lists of a plan, and sets its `bytes` and `memory` to 0. All copies of the plan end
 * with it. Waits for nothing: kernels that use the plan have ended. Freeing a plan without lists is
 * SUCCESS. The last ucd_finalize frees the lists that are left.
 * Returns: NOT_INITIALIZED, INVALID_ARG (plan is NULL; the lists are not there: freed twice),
 * INTERNAL. */
UCD_API int ucd_device_plan_free(ucd_device_plan_t *plan);

#ifdef __cplusplus
}
#endif

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(UCD_DEVICE_CODE_VENDOR)
#include <ucd_device_code.h>
#endif

#endif /* UCD_DEVICE_H_INCLUDED */
