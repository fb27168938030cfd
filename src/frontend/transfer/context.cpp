#include "transfer/context.h"

#include "registry.h"
#include "transfer/batch_cache.h"
#include "transfer/device_memory.h"
#include "transfer/progress.h"
#include "types/predefined.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace ucd {
namespace {

std::mutex start_failure_mutex;
char start_failure[sizeof LastError::text] = ""; // under its mutex

bool wanted(const Info &info, const char *name) {
    if (!info.backends) return true;
    return std::find(info.backends->begin(), info.backends->end(), name) != info.backends->end();
}

} // namespace

void set_start_failure(const char *reason) {
    const std::lock_guard lock(start_failure_mutex);
    std::snprintf(start_failure, sizeof start_failure, "%s", reason);
}

Status fail_not_initialised() {
    const std::lock_guard lock(start_failure_mutex);
    if (start_failure[0] != '\0')
        return fail(UCD_ERR__NOT_INITIALIZED, "ucd_init failed: %s", start_failure);
    return fail(UCD_ERR__NOT_INITIALIZED, "ucd_init has not been called%s",
                ever_initialised.load(std::memory_order_acquire) ? " since the last ucd_finalize"
                                                                 : "");
}

Context::Context(Info from_environment, const Info *info)
    : environment(std::move(from_environment)), batches(std::make_unique<BatchCache>()),
      device_memory(std::make_unique<DeviceMemory>()), progress(std::make_unique<Progress>()) {
    if (info != nullptr && info->backends) environment.backends = info->backends;
    if (info != nullptr && info->ze_context) environment.ze_context = info->ze_context;
    for (const RegistryEntry &entry : registry()) {
        BackendSlot slot;
        slot.name = entry.name;
        const bool is_host = slots.empty(); // host memory is never left out
        if (!is_host && !wanted(environment, entry.name))
            slot.state.reason = "left out by ucd.backends";
        else if ((slot.backend = entry.open(slot.state.reason)) != nullptr)
            slot.state = slot.backend->probe();
        if (slot.state.available && environment.ze_context)
            if (!slot.backend->use_context(*environment.ze_context, 0).ok()) {
                slot.state.available = false;
                slot.state.reason = last_error().text;
            }
        if (!slot.state.available) slot.backend.reset();
        devices = devices || (!is_host && slot.state.available);
        if (slot.state.available && slot.backend->hides_memory()) hides_memory = slot.backend.get();
        slots.push_back(std::move(slot));
    }
    host_ = slots[host_index].backend.get();
    apply(environment, defaults);
}

Context::~Context() = default;

int Context::index_of(std::string_view name) const {
    for (std::size_t i = 0; i < slots.size(); ++i)
        if (slots[i].name == name) return static_cast<int>(i);
    return -1;
}

unsigned Context::index_of(const Backend &backend) const {
    unsigned index = host_index;
    while (slots[index].backend.get() != &backend) ++index;
    return index;
}

} // namespace ucd
