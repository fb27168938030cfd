// Counts the blocks that libucd allocates for the program of faults. These functions take the place
// of libucd's, also for libucd-mpi-preload, since the program comes first in the order of
// libraries.

#include "mpi/faults.hpp"

#include <ucd_memory.h>

#include <atomic>
#include <dlfcn.h>

namespace {

std::atomic<long> blocks{0};

} // namespace

#define NEXT(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

extern "C" {

int ucd_memory_alloc(const char *device, int kind, uintptr_t bytes, void **address) {
    const int rc = NEXT(ucd_memory_alloc)(device, kind, bytes, address);
    blocks += rc == UCD_SUCCESS;
    return rc;
}

int ucd_memory_free(void *address) {
    blocks -= address != nullptr;
    return NEXT(ucd_memory_free)(address);
}

} // extern "C"

namespace ucdtest {

long allocated_blocks() {
    return blocks;
}

} // namespace ucdtest
