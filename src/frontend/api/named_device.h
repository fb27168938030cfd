// Devices by their names in ucd_memory.h and ucd_device.h.
#pragma once

#include "api/api_guard.h"
#include "support/keys.h"
#include "transfer/route.h"

namespace ucd {

// Finds a GPU by a backend's name, a colon and a number.
inline Status find_device(Context &context, const char *name, Executor &device) {
    UCD_TRY(require(name, "device"));
    LocationHint hint;
    if (parse_location(name, hint) && hint.kind == MemoryKind::device)
        UCD_TRY(find_executor(context, "device", hint.backend, hint.device, device));
    if (device.backend == nullptr || device.on_host())
        return fail(UCD_ERR__INVALID_ARG,
                    "device is \"%.32s\"; it must be a GPU backend's name, a colon and a number",
                    name);
    return success;
}

} // namespace ucd
