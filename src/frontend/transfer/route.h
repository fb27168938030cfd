// Finds the memory of buffers, and the route of data between them.
#pragma once

#include "support/heap_and_stack.h"
#include "support/short_list.h"
#include "transfer/check.h"
#include "transfer/context.h"

#include <array>
#include <cstdint>

namespace ucd {

inline char *displaced(char *address, uint64_t bytes) {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(address) + bytes);
}

// ---- where buffers are --------------------------------------------------------------------------

// Finds the memory of an address: as the hint says, or else by asking the backends.
Status find_location(const Context &context, const Hints &hints, const LocationHint *hint,
                     const void *address, MemoryLocation &location);

// A part of a range that is in one memory: where it begins in the range, and its first byte.
struct MemoryRange {
    uint64_t begin = 0;
    const char *first_byte = nullptr;
};
using MemoryRanges = ShortList<MemoryRange>;

// Finds the memories of the buffers of one call, many of which may be in one allocation: the
// drivers are asked once for each allocation. Answers are kept for one call only, because memory
// may be freed and its address reused afterwards.
class LocationCache {
public:
    LocationCache(const Context &context, const Hints &hints) : context_(context), hints_(hints) {}
    Status find(const LocationHint *hint, const void *address, MemoryLocation &location);
    // Divides a range, which must not be empty, into the parts that are in one memory each.
    // A side without a type is packed.
    Status find(const LocationHint *hint, const Type *type, const Side &side, uint64_t length,
                MemoryRanges &ranges);

private:
    const Context &context_;
    const Hints &hints_;
    std::array<MemoryLocation, 4> known_; // the most recent answers
    std::size_t next_ = 0;
};

// Whether both are in the same kind of memory, of the same device.
inline bool is_same_memory(const MemoryLocation &a, const MemoryLocation &b) {
    return a.kind == b.kind && a.owner == b.owner && a.device == b.device;
}

// The name of a memory in hints: host, pinned, managed, or a device of a backend.
struct MemoryName {
    char text[32];
};
MemoryName name_of(const MemoryLocation &location);

// Whether the executor can access the memory, and hints allow it.
bool reaches(const Executor &executor, const Hints &hints, const MemoryLocation &location);

// The address of the first byte that a non-empty type touches. For indices by reference, the
// address of the lowest byte.
const char *first_byte(const Type &type, const char *typed);

// Whether the typed data is in the heap or the stack, where drivers have no device memory. Indices,
// and data at absolute addresses, may be anywhere.
inline bool in_heap_or_stack(const Type &type, const char *typed) {
    return !type.by_reference && typed != nullptr && in_heap_or_stack(first_byte(type, typed));
}

// Whether the range is known to be consecutive in memory. If so, `address` is where it begins.
bool is_contiguous(const Type &type, const Side &side, uint64_t length, char *&address);

// ---- routes -------------------------------------------------------------------------------------

enum class RouteKind : uint8_t {
    host,   // the CPU, within the call
    direct, // one device, which can access both sides
    staged, // an executor for each side, through chunks
};

struct Route {
    RouteKind kind = RouteKind::host;
    Executor from, to; // the executor of each side; equal unless staged
    MemoryKind from_kind = MemoryKind::host, to_kind = MemoryKind::host;
    friend bool operator==(const Route &, const Route &) = default;
};

// A caller's stream, and the executor that works in it.
struct StreamTarget {
    Executor executor;
    NativeStream stream;
};

// Whether all buffers are in host memory. Does not look at the buffers, so it may be false if that
// is unclear.
[[gnu::always_inline]] inline bool all_on_host(const Context &context, const Hints &hints) {
    const auto on_host = [&](const LocationHint *hint) {
        return hint != nullptr ? hint->kind != MemoryKind::device : !context.devices;
    };
    return hints.host_only || (on_host(hints.inbuf) && on_host(hints.outbuf));
}

// Whether the data of a side is in the heap or the stack; see above.
inline bool in_heap_or_stack(const Type *type, const char *address) {
    return type == nullptr ? in_heap_or_stack(address) : in_heap_or_stack(*type, address);
}

// Whether the CPU moves the data, and no driver has to be asked: all buffers and lists are in host
// memory, or the data is in the heap or the stack and no hint says anything else.
[[gnu::always_inline]] inline bool all_on_host(const Context &context, const Hints &hints,
                                               const Type *from_type, const char *from,
                                               const Type *to_type, const char *to) {
    const bool has_lists = (from_type != nullptr && from_type->by_reference) ||
                           (to_type != nullptr && to_type->by_reference);
    const bool lists_on_host = !has_lists || !context.devices || hints.host_only;
    return (all_on_host(context, hints) && lists_on_host) ||
           (hints.inbuf == nullptr && hints.outbuf == nullptr && in_heap_or_stack(to_type, to) &&
            in_heap_or_stack(from_type, from));
}

// The route of data. `direction` says which side has the layout; a copy counts as a pack. If both
// sides are in devices that reach the other one, that of the layout moves the data.
Route find_route(const Context &context, const Hints &hints, MemoryLocation from, MemoryLocation to,
                 Direction direction);

// Same, for data of the type. If a device cannot reduce the data, the host does, provided that it
// can access the result.
Route find_route(const Context &context, const Hints &hints, const MemoryLocation &from,
                 const MemoryLocation &to, Direction direction, Op op, const Type &type);

// The route on which each side is moved by its own executor, even if the other one can access it.
// The host moves all data that it can access.
Route staged_route(const Context &context, const MemoryLocation &from, const MemoryLocation &to);

// Whether copy engines can move a range.
Status check_copy_engines(const Type &type, const Side &side, uint64_t length, Op op);

// Whether the executor supports the op for every element of the type.
bool supports(const Executor &executor, Op op, const Type &type);
// Same, but fails if it does not.
Status check_supported(const Executor &executor, Op op, const Type &type);

} // namespace ucd
