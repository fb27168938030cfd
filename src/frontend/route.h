// Where buffers are, and by which way data gets from one to the other.
#pragma once

#include "context.h"
#include "transfer.h"
#include "type.h"

#include <array>
#include <cstdint>

namespace ucd {

// What moves data: a device of a backend, or the host's backend.
struct Executor {
    Backend *backend = nullptr;
    unsigned index = 0; // of the backend in the context
    int device = 0;
    bool on_host() const { return index == Context::host_index; }
    friend bool operator==(const Executor &, const Executor &) = default;
};

enum class Way : uint8_t {
    host,   // the CPU, inside the call
    direct, // one device, which reaches both sides
    staged, // each side by its own executor, through chunks
};

struct Route {
    Way way = Way::host;
    Executor laid_out, packed; // which executor moves which side; the same one unless staged
    MemoryKind laid_out_kind = MemoryKind::host, packed_kind = MemoryKind::host;
};

// Whether it is clear without looking at the buffers that all of them are in host memory.
inline bool all_on_host(const Context &context, const Hints &hints) {
    const auto on_host = [&](const PlaceHint *hint) {
        return hint != nullptr ? hint->kind != MemoryKind::device : !context.devices;
    };
    return hints.host_only || (on_host(hints.inbuf) && on_host(hints.outbuf));
}

// Where an address is: as the hint says, if there is one, else as the backends know it.
Status find_place(const Context &context, const Hints &hints, const PlaceHint *hint,
                  const void *address, Place &place);

// The same for the buffers of one call, many of which may be pieces of one allocation: drivers are
// asked about it once. Not for longer, since what is freed may be anybody's next.
class Places {
public:
    Places(const Context &context, const Hints &hints) : context_(context), hints_(hints) {}
    Status find(const PlaceHint *hint, const void *address, Place &place);

private:
    const Context &context_;
    const Hints &hints_;
    std::array<Place, 4> known_; // the last ones
    std::size_t next_ = 0;
};

// Whether the executor reaches the place, and may.
bool reaches(const Executor &executor, const Hints &hints, const Place &place);

// The way between a laid-out and a packed buffer. For a copy between two laid-out buffers, the
// source stands for the laid-out and the destination for the packed side.
Route find_route(const Context &context, const Hints &hints, Place laid_out, Place packed);

// The way on which each side is moved by its own executor, whoever else reaches it. What the host
// reaches, the host moves.
Route staged_route(const Context &context, const Place &laid_out, const Place &packed);

// The address of the first byte that a non-empty type touches.
const char *first_byte(const Type &type, const char *laid_out);

// Whether the range is consecutive in memory too; `address` is then where. Does not look at
// `packed`.
bool is_contiguous(const Transfer &t, char *&address);

// Whether copy engines can do it.
Status check_copy_engines(const Transfer &t, Op op);

// Whether the executor has the op for every element of the type.
bool supports(const Executor &executor, Op op, const Type &type);
// The same, with a failure in words.
Status check_supported(const Executor &executor, Op op, const Type &type);

inline char *displaced(char *address, uint64_t bytes) {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(address) + bytes);
}

} // namespace ucd
