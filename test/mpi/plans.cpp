// A tool between libucd-mpi-preload and libucd that counts plans and their starts.
// UCD_TEST_PLANS=refuse lets no plan be made. UCD_TEST_DEVICE_MEMORY=refuse leaves
// libucd-mpi-preload no memory on devices, and UCD_TEST_DEVICE_MEMORY=some none for every second
// block; either prints which blocks are so small that a device shares them out of a larger one.

#include <ucd.h>
#include <ucd_memory.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace {

std::atomic<int> made{0}, started{0}, freed{0};

[[gnu::destructor]] void report() {
    if (made + started + freed > 0)
        std::fprintf(stderr, "plans: %d made, %d starts, %d freed\n", made.load(), started.load(),
                     freed.load());
}

} // namespace

#define NEXT(name) reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

extern "C" {

int ucd_plan_create(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op,
                    ucd_plan_t *plan) {
    const char *const wanted = std::getenv("UCD_TEST_PLANS");
    if (wanted != nullptr && std::strcmp(wanted, "refuse") == 0) return UCD_ERR__OUT_OF_MEM;
    const int rc = NEXT(ucd_plan_create)(moves, count, info, op, plan);
    made += rc == UCD_SUCCESS;
    return rc;
}

int ucd_memory_alloc(const char *device, int kind, uintptr_t bytes, void **address) {
    static std::atomic<int> blocks{0};
    const char *const wanted = std::getenv("UCD_TEST_DEVICE_MEMORY");
    Dl_info caller;
    const bool is_ours = wanted != nullptr && kind == UCD_MEMORY__DEVICE &&
                         dladdr(__builtin_return_address(0), &caller) != 0 &&
                         std::strstr(caller.dli_fname, "ucd-mpi-preload") != nullptr;
    if (is_ours && bytes < std::size_t{2} << 20)
        std::fprintf(stderr, "plans: a block of %zu bytes on a device\n", std::size_t{bytes});
    if (is_ours && (std::strcmp(wanted, "refuse") == 0 || ++blocks % 2 == 1))
        return UCD_ERR__OUT_OF_MEM;
    return NEXT(ucd_memory_alloc)(device, kind, bytes, address);
}

int ucd_plan_start(ucd_plan_t plan, ucd_request_t *request) {
    ++started;
    return NEXT(ucd_plan_start)(plan, request);
}

int ucd_plan_free(ucd_plan_t *plan) {
    ++freed;
    return NEXT(ucd_plan_free)(plan);
}

} // extern "C"
