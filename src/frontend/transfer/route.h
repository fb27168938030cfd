// Where buffers are, and by which way data gets from one to another.
#pragma once

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

// Where an address is: as the hint says, if there is one, else as the backends know it.
Status find_location(const Context &context, const Hints &hints, const LocationHint *hint,
                     const void *address, MemoryLocation &location);

// A part of a range whose bytes are in one memory: where it begins in the range, and its first
// byte.
struct Stretch {
    uint64_t begin = 0;
    const char *first_byte = nullptr;
};
using Stretches = ShortList<Stretch>;

// The same for the buffers of one call, many of which may be parts of one allocation: the drivers
// are asked about each allocation once. Answers are kept for one call only, because memory may be
// freed and its address reused afterwards.
class LocationCache {
public:
    LocationCache(const Context &context, const Hints &hints) : context_(context), hints_(hints) {}
    Status find(const LocationHint *hint, const void *address, MemoryLocation &location);
    // The parts of a range, which is not empty, that are in one memory each.
    Status find(const LocationHint *hint, const Type &type, const CopyMove::Side &side,
                uint64_t length, Stretches &stretches);

private:
    const Context &context_;
    const Hints &hints_;
    std::array<MemoryLocation, 4> known_; // the last ones
    std::size_t next_ = 0;
};

// Whether they are in the same kind of memory, of one device.
inline bool is_same_memory(const MemoryLocation &a, const MemoryLocation &b) {
    return a.kind == b.kind && a.owner == b.owner && a.device == b.device;
}

// As hints word it: host, pinned, managed, or a device of a backend.
struct MemoryName {
    char text[32];
};
MemoryName name_of(const MemoryLocation &location);

// Whether the executor reaches the place, and may.
bool reaches(const Executor &executor, const Hints &hints, const MemoryLocation &location);

// The address of the first byte that a non-empty type touches; where its indices are by reference,
// of the lowest byte.
const char *first_byte(const Type &type, const char *typed);

// Whether the range is known to be consecutive in memory too; `address` is then where.
bool is_contiguous(const Type &type, const CopyMove::Side &side, uint64_t length, char *&address);

// ---- routes -------------------------------------------------------------------------------------

enum class RouteKind : uint8_t {
    host,   // the CPU, inside the call
    direct, // one device, which reaches both sides
    staged, // each side by its own executor, through chunks
};

// Of a copy between two typed buffers, the source stands for the typed and the destination for the
// packed side.
struct Route {
    RouteKind kind = RouteKind::host;
    Executor typed, packed; // which executor moves which side; the same one unless staged
    MemoryKind typed_kind = MemoryKind::host, packed_kind = MemoryKind::host;
};

// A caller's stream, and what works in it.
struct StreamTarget {
    Executor executor;
    NativeStream stream;
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

Route find_route(const Context &context, const Hints &hints, MemoryLocation typed,
                 MemoryLocation packed);

// The same for data of the type in the direction. What a device cannot reduce, the host does, if
// the result is where it reaches.
Route find_route(const Context &context, const Hints &hints, const MemoryLocation &typed,
                 const MemoryLocation &packed, Direction direction, Op op, const Type &type);

// The route on which each side is moved by its own executor, even if another reaches it too. The
// host moves what the host reaches.
Route staged_route(const Context &context, const MemoryLocation &typed,
                   const MemoryLocation &packed);

// Whether copy engines can move a range.
Status check_copy_engines(const Type &type, const CopyMove::Side &side, uint64_t length, Op op);

// Whether the executor has the op for every element of the type.
bool supports(const Executor &executor, Op op, const Type &type);
// The same, with a failure in words.
Status check_supported(const Executor &executor, Op op, const Type &type);

} // namespace ucd
