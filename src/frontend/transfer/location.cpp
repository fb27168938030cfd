#include "transfer/location.h"

#include <cstdio>
#include <string_view>

namespace ucd {
namespace {

Status hinted_location(const Context &context, const LocationHint &hint, MemoryLocation &location) {
    location = {hint.kind, hint.device, nullptr};
    if (hint.kind != MemoryKind::device) return success;
    Executor executor;
    UCD_TRY(find_executor(context, "a hint", hint.backend, hint.device, executor));
    if (executor.on_host())
        location = {};
    else
        location.owner = executor.backend;
    return success;
}

} // namespace

Status find_location(const Context &context, const Hints &hints, const LocationHint *hint,
                     const void *address, MemoryLocation &location) {
    location = {};
    if (hints.host_only) return success;
    if (hint != nullptr) return hinted_location(context, *hint, location);
    if (!context.devices) return success;
    Status status; // of a driver that fails; another one may know the address
    for (unsigned i = Context::host_index + 1; i < context.slots.size(); ++i) {
        const Backend *backend = context.slots[i].backend.get();
        if (backend == nullptr) continue;
        const Status asked = backend->find(address, location);
        if (location.owner != nullptr) return success;
        if (!asked.ok()) status = asked;
    }
    return status;
}

Status LocationCache::find(const LocationHint *hint, const void *address,
                           MemoryLocation &location) {
    if (hint == nullptr)
        for (const MemoryLocation &known : known_)
            if (known.holds(address)) {
                location = known;
                return success;
            }
    UCD_TRY(find_location(context_, hints_, hint, address, location));
    const bool unknown = hint == nullptr && location.owner == nullptr && !hints_.host_only;
    if (unknown && context_.hides_memory != nullptr)
        UCD_TRY(context_.hides_memory->check_unknown(address));
    if (location.holds(address)) known_[next_++ % known_.size()] = location;
    return success;
}

MemoryName name_of(const MemoryLocation &location) {
    MemoryName name;
    if (location.kind == MemoryKind::device) {
        std::snprintf(name.text, sizeof name.text, "%s:%d", location.owner->name(),
                      location.device);
        return name;
    }
    // Callers may ask before each of many small transfers: a constant needs no formatting.
    const std::string_view constant = location.kind == MemoryKind::pinned    ? "pinned"
                                      : location.kind == MemoryKind::managed ? "managed"
                                                                             : "host";
    name.text[constant.copy(name.text, sizeof name.text - 1)] = '\0';
    return name;
}

bool reaches(const Executor &executor, const Hints &hints, const MemoryLocation &location) {
    const bool peers = location.kind == MemoryKind::device && location.device != executor.device;
    return (hints.peers || !peers) && executor.backend->reaches(executor.device, location);
}

} // namespace ucd
