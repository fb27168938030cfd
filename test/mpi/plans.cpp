// A tool that counts plans, and their starts, between libucd-mpi-preload and libucd.
// UCD_TEST_PLANS=refuse lets no plan be made.

#include <ucd.h>

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

int ucd_plan_start(ucd_plan_t plan, ucd_request_t *request) {
    ++started;
    return NEXT(ucd_plan_start)(plan, request);
}

int ucd_plan_free(ucd_plan_t *plan) {
    ++freed;
    return NEXT(ucd_plan_free)(plan);
}

} // extern "C"
