// By which way data gets from one memory location to another.
#pragma once

#include "transfer/executor.h"
#include "transfer/location.h"
#include "transfer/transfer.h"

#include <cstdint>

namespace ucd {

enum class RouteKind : uint8_t {
    host,   // the CPU, inside the call
    direct, // one device, which reaches both sides
    staged, // each side by its own executor, through chunks
};

struct Route {
    RouteKind kind = RouteKind::host;
    Executor typed, packed; // which executor moves which side; the same one unless staged
    MemoryKind typed_kind = MemoryKind::host, packed_kind = MemoryKind::host;
};

// Whether it is clear without looking at the buffers that all of them are in host memory.
inline bool all_on_host(const Context &context, const Hints &hints) {
    const auto on_host = [&](const LocationHint *hint) {
        return hint != nullptr ? hint->kind != MemoryKind::device : !context.devices;
    };
    return hints.host_only || (on_host(hints.inbuf) && on_host(hints.outbuf));
}

// The same, if the lists of the type are looked at, too.
inline bool all_on_host(const Context &context, const Hints &hints, const Type &type) {
    return all_on_host(context, hints) &&
           (!type.by_reference || !context.devices || hints.host_only);
}

// The route between a typed and a packed buffer. For a copy between two typed buffers, the source
// stands for the typed and the destination for the packed side.
Route find_route(const Context &context, const Hints &hints, MemoryLocation typed,
                 MemoryLocation packed);

// The same for a transfer of the type in the direction. What a device cannot reduce, the host does,
// if the result is where it reaches.
Route find_route(const Context &context, const Hints &hints, const MemoryLocation &typed,
                 const MemoryLocation &packed, Direction direction, Op op, const Type &type);

// The route on which each side is moved by its own executor, even if another reaches it too. The
// host moves what the host reaches.
Route staged_route(const Context &context, const MemoryLocation &typed,
                   const MemoryLocation &packed);

// The address of the first byte that a non-empty type touches; where its indices are by reference,
// of the lowest byte.
const char *first_byte(const Type &type, const char *typed);

// Whether the range is known to be consecutive in memory too; `address` is then where. Does not
// look at `packed`.
bool is_contiguous(const Transfer &t, char *&address);

// Whether copy engines can do it.
Status check_copy_engines(const Transfer &t, Op op);

// Whether the executor has the op for every element of the type.
bool supports(const Executor &executor, Op op, const Type &type);
// The same, with a failure in words.
Status check_supported(const Executor &executor, Op op, const Type &type);

} // namespace ucd
