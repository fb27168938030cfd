// ucd_device.h: plans for code on devices.

#include "api/api_guard.h"
#include "api/named_device.h"
#include "prepared/type_cache.h"
#include "support/device_memory.h"
#include "transfer/check.h"

#include <ucd_device.h>

using namespace ucd;

namespace {

// Device code was compiled with the header whose size and version these are.
Status check_header(const ucd_device_plan_t &plan) {
    if (plan.struct_size == 0)
        return fail(UCD_ERR__INVALID_ARG,
                    "plan->struct_size is 0; set the plan to UCD_DEVICE_PLAN__INIT");
    if (plan.version == UCD_DEVICE_PLAN__VERSION && plan.struct_size == sizeof plan) return success;
    return fail(UCD_ERR__NOT_SUPPORTED,
                "plan has version %u and %u bytes; libucd has version %d and %zu bytes",
                plan.version, plan.struct_size, UCD_DEVICE_PLAN__VERSION, sizeof plan);
}

} // namespace

int ucd_device_plan_create(uintptr_t count, ucd_type_t type, const char *device, ucd_info_t info,
                           ucd_device_plan_t *plan) {
    return guard("ucd_device_plan_create", info, [&](Context &context) -> Status {
        UCD_TRY(require(plan, "plan"));
        UCD_TRY(check_header(*plan));
        const Type *resolved;
        UCD_TRY(resolve(type, "type", resolved));
        uint64_t total;
        UCD_TRY(check_count(count, *resolved, "count", total));
        Executor on;
        UCD_TRY(find_device(context, device, on));
        ucd_device_plan_t made;
        UCD_TRY(on.backend->device_plan(on.device, layout_of(*resolved), resolved->extent(),
                                        total == 0 ? 0 : count, max_layout_bytes(*resolved), made));
        if (made.memory != 0)
            UCD_TRY(context.device_memory->adopt(
                *on.backend, on.device, MemoryKind::device,
                reinterpret_cast<void *>(static_cast<uintptr_t>(made.memory))));
        *plan = made;
        return success;
    });
}

int ucd_device_plan_free(ucd_device_plan_t *plan) {
    return guard("ucd_device_plan_free", [&](Context &context) -> Status {
        UCD_TRY(require(plan, "plan"));
        UCD_TRY(context.device_memory->release(
            reinterpret_cast<void *>(static_cast<uintptr_t>(plan->memory))));
        plan->bytes = plan->memory = 0;
        return success;
    });
}
