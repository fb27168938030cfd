// These functions take the place of libucd's and of the C library's, also for libucd-mpi-preload,
// since the program comes first in the order of libraries.

#include "mpi/failing_calls.hpp"

#include <ucd.h>
#include <ucd_memory.h>

#include <cstddef>
#include <cstring>
#include <dlfcn.h>

namespace ucdtest {

Failing failing;
std::vector<std::string> allocated;

namespace {

bool is_preload(const void *caller) {
    Dl_info found;
    return dladdr(caller, &found) != 0 &&
           std::strstr(found.dli_fname, "ucd-mpi-preload") != nullptr;
}

} // namespace
} // namespace ucdtest

using ucdtest::failing;
using ucdtest::is_preload;

#define NEXT(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))
#define IS_TO_FAIL(what) ((what) && is_preload(__builtin_return_address(0)))

extern "C" {

int ucd_pack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
             void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes, ucd_info_t info,
             ucd_op_t op) {
    if (IS_TO_FAIL(failing.packs)) return UCD_ERR__DEVICE;
    return NEXT(ucd_pack)(inbuf, incount, type, inoffset, outbuf, max_pack_bytes, actual_pack_bytes,
                          info, op);
}

int ucd_unpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
               ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
               ucd_info_t info, ucd_op_t op) {
    if (IS_TO_FAIL(failing.unpacks)) return UCD_ERR__DEVICE;
    return NEXT(ucd_unpack)(inbuf, insize, outbuf, outcount, type, outoffset, actual_unpack_bytes,
                            info, op);
}

int ucd_move(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op) {
    if (IS_TO_FAIL(failing.unpacks)) return UCD_ERR__DEVICE;
    return NEXT(ucd_move)(moves, count, info, op);
}

int ucd_plan_start(ucd_plan_t plan, ucd_request_t *request) {
    if (IS_TO_FAIL(failing.packs || failing.unpacks)) return UCD_ERR__DEVICE;
    return NEXT(ucd_plan_start)(plan, request);
}

int ucd_memory_alloc(const char *device, int kind, uintptr_t bytes, void **address) {
    if (IS_TO_FAIL(failing.memory)) return UCD_ERR__OUT_OF_MEM;
    if (is_preload(__builtin_return_address(0))) ucdtest::allocated.emplace_back(device);
    return NEXT(ucd_memory_alloc)(device, kind, bytes, address);
}

void *aligned_alloc(size_t alignment, size_t size) {
    if (IS_TO_FAIL(failing.memory)) return nullptr;
    return NEXT(aligned_alloc)(alignment, size);
}

} // extern "C"
