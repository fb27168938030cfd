#include "transfer/executor.h"

#include <algorithm>

namespace ucd {

Status find_executor(const Context &context, const char *named_by, std::string_view backend,
                     int device, Executor &executor) {
    const int shown = static_cast<int>(std::min<std::size_t>(backend.size(), 32));
    const int index = context.index_of(backend);
    if (index < 0)
        return fail(UCD_ERR__NOT_SUPPORTED, "%s names backend \"%.*s\", which is not known",
                    named_by, shown, backend.data());
    const BackendSlot &slot = context.slots[static_cast<unsigned>(index)];
    const BackendState &state = slot.inspect();
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
