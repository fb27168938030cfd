#include "life_cycle.h"

#include "failure.h"
#include "info.h"
#include "request.h"
#include "type.h"

#include <atomic>
#include <mutex>

namespace ucd_yaksa {
namespace {

std::mutex mutex;
unsigned uses = 0;
std::atomic<bool> ready{false};
bool gpus_excluded = false;
ucd_info_t no_gpu = UCD_INFO__NULL; // ucd.gpu=none

int create_all(const Info *info) {
    gpus_excluded = info != nullptr && info->no_gpu;
    int rc = create_predefined_types();
    if (rc == YAKSA_SUCCESS) rc = from_ucd(ucd_info_create(&no_gpu));
    if (rc == YAKSA_SUCCESS) rc = from_ucd(ucd_info_set(no_gpu, "ucd.gpu", "none"));
    return rc;
}

void stop() {
    complete_all_requests();
    free_all_types();
    if (no_gpu != UCD_INFO__NULL) ucd_info_free(&no_gpu);
    ucd_finalize();
}

int init(const Info *info) {
    const std::lock_guard lock(mutex);
    if (uses == 0) {
        UCD_TRY(from_ucd(ucd_init(info == nullptr ? UCD_INFO__NULL : info->hints)));
        if (const int rc = create_all(info); rc != YAKSA_SUCCESS) {
            stop();
            return rc;
        }
        ready.store(true, std::memory_order_release);
    }
    ++uses;
    return YAKSA_SUCCESS;
}

int finalize() {
    const std::lock_guard lock(mutex);
    if (uses == 0) return fail(YAKSA_ERR__INTERNAL, "yaksa_init was not called as often");
    if (--uses > 0) return YAKSA_SUCCESS;
    ready.store(false, std::memory_order_release);
    stop();
    return YAKSA_SUCCESS;
}

} // namespace

bool is_initialized() {
    return ready.load(std::memory_order_acquire);
}

bool without_gpus() {
    return gpus_excluded;
}

ucd_info_t no_gpu_hints() {
    return no_gpu;
}

} // namespace ucd_yaksa

int yaksa_init(yaksa_info_t info) {
    using namespace ucd_yaksa;
    return guarded("yaksa_init", [&] { return init(static_cast<const Info *>(info)); });
}

int yaksa_finalize(void) {
    return ucd_yaksa::guarded("yaksa_finalize", [] { return ucd_yaksa::finalize(); });
}
