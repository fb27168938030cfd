#include "transfer/context.h"

#include "environment.h"
#include "registry.h"
#include "support/device_memory.h"
#include "support/keys.h"
#include "support/list_memory.h"
#include "transfer/progress.h"
#include "types/predefined.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace ucd {
namespace {

std::mutex start_failure_mutex;
char start_failure[sizeof LastError::text] = ""; // protected by its mutex

bool wanted(const Info &info, const char *name) {
    if (!info.backends) return true;
    return std::find(info.backends->begin(), info.backends->end(), name) != info.backends->end();
}

uint64_t next_number() {
    static std::atomic<uint64_t> last{0};
    return ++last;
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
    : number(next_number()), environment(std::move(from_environment)),
      device_memory(std::make_unique<DeviceMemory>()), progress(std::make_unique<Progress>()) {
    if (info != nullptr && info->backends) environment.backends = info->backends;
    if (info != nullptr && info->ze_context) environment.ze_context = info->ze_context;
    if (info != nullptr && info->list_memory) environment.list_memory = info->list_memory;
    if (info != nullptr && info->checks_handles) environment.checks_handles = info->checks_handles;
    set_list_memory(environment.list_memory.value_or(default_list_memory));
    for (const RegistryEntry &entry : registry()) {
        BackendSlot slot;
        slot.name = entry.name;
        const bool is_host = slots.empty(); // host memory cannot be excluded
        if (!is_host && !wanted(environment, entry.name)) {
            slot.state.reason = "left out by ucd.backends";
        } else if (!is_host && has_more_rights()) {
            // Whatever libucd does not read, drivers do: variables name libraries that they load
            // (ZE_ENABLE_ALT_DRIVERS, CUDA_INJECTION64_PATH, HSA_TOOLS_LIB).
            slot.state.reason = "a program with more rights than the user who started it has no "
                                "device backends";
        } else {
            std::string reason;
            slot.backend = entry.open(reason);
            slot.state.reason = reason;
        }
        if (slot.backend != nullptr && !slot.backend->probe(slot.state).ok())
            slot.state.reason = last_error().text;
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

// Work in streams may use memory of device_memory. Not all drivers wait for it before they free
// memory.
Context::~Context() {
    progress.reset();
    for (const BackendSlot &slot : slots)
        if (slot.backend != nullptr) (void)slot.backend->finish(); // a failure is its stream's
}

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

Status find_executor(const Context &context, const char *named_by, std::string_view backend,
                     int device, Executor &executor) {
    const int shown = static_cast<int>(std::min<std::size_t>(backend.size(), 32));
    const int index = context.index_of(backend);
    if (index < 0)
        return fail(UCD_ERR__NOT_SUPPORTED,
                    "%s names backend \"%.*s\", which is not known; the nearest is %s", named_by,
                    shown, backend.data(), nearest_backend(backend));
    const BackendSlot &slot = context.slots[static_cast<unsigned>(index)];
    const BackendState *found;
    UCD_TRY(slot.inspect(found));
    const BackendState &state = *found;
    if (!state.available)
        return fail(UCD_ERR__NOT_SUPPORTED, "%s names backend %s, which is not available: %s",
                    named_by, slot.name.c_str(), state.reason.c_str());
    if (device < 0 || static_cast<uint32_t>(device) >= state.devices)
        return fail(UCD_ERR__NOT_SUPPORTED, "%s names device %d of backend %s, which has %u",
                    named_by, device, slot.name.c_str(), state.devices);
    executor = {slot.backend.get(), static_cast<unsigned>(index), device};
    return success;
}

} // namespace ucd
