// The functions of ucd_device.h for device code. This file becomes the installed header
// ucd_device_code.h, with everything that it includes: the code of the library's own kernels.
#pragma once

#include "kernels/plan_moves.h"
#include "plan_tiles.h"

#include <type_traits>

namespace ucd::device {

// Groups of threads. Any type will do that has the functions below, such as those of cooperative
// groups: thread_rank() numbers the threads of the group from 0, and size() is their number. All
// threads of a group call a function together, with the same arguments.
//
// These here need no other header. Ranks follow threadIdx.x first, so that neighbouring threads
// access neighbouring memory.

#if !defined(UCD_DEVICE_CODE_VENDOR)

// One thread.
struct Thread {
    UCD_GPU_FUNCTION static uint32_t thread_rank() { return 0; }
    UCD_GPU_FUNCTION static uint32_t size() { return 1; }
};

// The threads of a block.
struct Block {
    UCD_GPU_FUNCTION static uint32_t thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    UCD_GPU_FUNCTION static uint32_t size() { return blockDim.x * blockDim.y * blockDim.z; }
    UCD_GPU_FUNCTION static void sync() { __syncthreads(); }
};

// The calling thread's warp, or wavefront. The block has whole ones.
struct Warp {
    UCD_GPU_FUNCTION static uint32_t thread_rank() { return Block::thread_rank() % warpSize; }
    UCD_GPU_FUNCTION static uint32_t size() { return warpSize; }
};

// All threads of the launch.
struct Grid {
    UCD_GPU_FUNCTION static uint64_t block_rank() {
        return (uint64_t{blockIdx.z} * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    UCD_GPU_FUNCTION static uint64_t num_blocks() {
        return uint64_t{gridDim.x} * gridDim.y * gridDim.z;
    }
    UCD_GPU_FUNCTION static uint64_t thread_rank() {
        return block_rank() * Block::size() + Block::thread_rank();
    }
    UCD_GPU_FUNCTION static uint64_t size() { return num_blocks() * Block::size(); }
};

UCD_GPU_FUNCTION Thread this_thread() {
    return {};
}
UCD_GPU_FUNCTION Warp this_warp() {
    return {};
}
UCD_GPU_FUNCTION Block this_block() {
    return {};
}
UCD_GPU_FUNCTION Grid this_grid() {
    return {};
}

#endif

// Shared memory, aligned to 16 bytes, that a group of whole blocks lends to pack() or unpack().
// With it, transposes are moved in tiles, so that both sides are accessed in whole sectors.
// Elements of N bytes need 1056 * N bytes; with less, or with nullptr, nothing is moved in tiles.
struct Scratch {
    void *memory;
    uint32_t bytes;
};
inline constexpr uint32_t max_scratch_bytes =
    device_code::tile_side * (device_code::tile_side + 1) * device_code::vector_bytes;

// A kernel may know two things of a plan when it is compiled: the width of words in bytes, and the
// kinds of its levels, the outermost first. The functions then have no code for other layouts, so
// they need fewer registers and instructions. fits() says whether a plan is so.
using Level = device_code::LevelKind;
inline constexpr Level strided = Level::strided;             // children at equal distances
inline constexpr Level indexed_block = Level::indexed_block; // children by a list
inline constexpr Level indexed = Level::indexed;             // runs of children by a list

template <unsigned word, Level... levels>
struct KnownPlan {
    const ucd_device_plan_t &plan;
};

// This is the number of strided levels of a plan that has no others, else 0.
template <Level... levels>
inline constexpr unsigned strided_levels = ((levels == Level::strided) && ...) ? sizeof...(levels)
                                                                               : 0;

// Returns whether kernels may take the plan as known<word, levels...>(plan): addresses and
// distances in its layout are multiples of `word` (1, 2, 4, 8 or 16) bytes, its levels are these,
// or the first ones of these if those that are left are strided, it has no more than 1 GiB, and its
// strides are below 2 GiB. For the host, too, which so chooses a kernel.
template <unsigned word, Level... levels>
UCD_GPU_HOST_FUNCTION bool fits(const ucd_device_plan_t &plan) {
    constexpr unsigned count = sizeof...(levels);
    constexpr Level kinds[] = {levels..., Level::strided};
    if (plan.bytes == 0) return true;
    if (plan.bytes > device_code::max_divided || 1u << plan.word < word || plan.levels > count)
        return false;
    for (unsigned k = count; k-- > 0;) {
        const int64_t stride = plan.level[k].stride;
        if (plan.kind[k] != static_cast<uint8_t>(kinds[k]) ||
            stride != static_cast<int32_t>(stride))
            return false;
    }
    return true;
}

// The plan as an argument of pack(), unpack() or copy(), which fits. The caller's address, and what
// lies between the packed stream's first byte and `out` or `in`, are multiples of `word` bytes; for
// copy(), the offset and the bytes as well. With assertions on, the kernel traps where they are
// not.
template <unsigned word, Level... levels>
UCD_GPU_FUNCTION KnownPlan<word, levels...> known(const ucd_device_plan_t &plan) {
    assert((fits<word, levels...>(plan)));
    return {plan};
}

namespace tiles {

// The threads that share a tile: those of a block, which is the group or is a part of it.
template <class Group, class = void>
struct Team {
    const Group &group;
    UCD_GPU_FUNCTION uint32_t threads() const { return static_cast<uint32_t>(group.size()); }
    UCD_GPU_FUNCTION uint32_t first() const { return 0; }
    UCD_GPU_FUNCTION uint32_t teams() const { return 1; }
    template <class Body>
    UCD_GPU_FUNCTION void each(Body body) const {
        UCD_GPU_FOR_EACH_RANK(group, rank) {
            body(static_cast<uint32_t>(rank));
        }
    }
    UCD_GPU_FUNCTION void barrier() const { group.sync(); }
};

#if !defined(UCD_DEVICE_CODE_VENDOR)
template <class Group>
struct Team<Group, std::void_t<decltype(std::declval<const Group &>().num_blocks())>> {
    const Group &group;
    UCD_GPU_FUNCTION uint32_t threads() const { return Block::size(); }
    UCD_GPU_FUNCTION uint32_t first() const { return static_cast<uint32_t>(group.block_rank()); }
    UCD_GPU_FUNCTION uint32_t teams() const { return static_cast<uint32_t>(group.num_blocks()); }
    template <class Body>
    UCD_GPU_FUNCTION void each(Body body) const {
        body(Block::thread_rank());
    }
    UCD_GPU_FUNCTION void barrier() const { __syncthreads(); }
};
#endif

} // namespace tiles

// Packs the bytes [offset, offset + bytes) of the packed stream from `buf` to `out`, which receives
// the first of them. A range beyond plan.bytes is undefined; with assertions on, the kernel traps.
//
// `buf` and `out` are any memory that the device reaches: its own, a peer's, pinned or managed. On
// NVIDIA's devices they may be shared memory as well. They may have any alignment; accesses are as
// wide as the addresses allow, up to 16 bytes. Bytes outside of the range are not written. The
// threads of the group do not wait for each other: before others read `out`, the group must be
// synchronised, and a peer needs a flag that is released at system scope.
template <class Group>
UCD_GPU_FUNCTION void pack(const Group &group, const ucd_device_plan_t &plan, const void *buf,
                           uint64_t offset, uint64_t bytes, void *out) {
    device_code::move_by_plan<device_code::Direction::pack>(
        group, plan, reinterpret_cast<uintptr_t>(buf), reinterpret_cast<uintptr_t>(out), offset,
        bytes);
}

// The same, in tiles where this is faster. All threads of the blocks that the group consists of
// call it; it may wait for the threads of the block, and `scratch` is free when it returns.
template <class Group>
UCD_GPU_FUNCTION void pack(const Group &group, const ucd_device_plan_t &plan, const void *buf,
                           uint64_t offset, uint64_t bytes, void *out, const Scratch &scratch) {
    if (!device_code::move_by_tiles<device_code::Direction::pack>(
            tiles::Team<Group>{group}, plan, reinterpret_cast<uintptr_t>(buf),
            reinterpret_cast<uintptr_t>(out), offset, bytes, scratch.memory, scratch.bytes))
        pack(group, plan, buf, offset, bytes, out);
}

// Unpacks bytes [offset, offset + bytes) of the packed stream, the first of which is at `in`, to
// `buf`. Otherwise as pack().
template <class Group>
UCD_GPU_FUNCTION void unpack(const Group &group, const ucd_device_plan_t &plan, const void *in,
                             void *buf, uint64_t offset, uint64_t bytes) {
    device_code::move_by_plan<device_code::Direction::unpack>(
        group, plan, reinterpret_cast<uintptr_t>(buf), reinterpret_cast<uintptr_t>(in), offset,
        bytes);
}

template <class Group>
UCD_GPU_FUNCTION void unpack(const Group &group, const ucd_device_plan_t &plan, const void *in,
                             void *buf, uint64_t offset, uint64_t bytes, const Scratch &scratch) {
    if (!device_code::move_by_tiles<device_code::Direction::unpack>(
            tiles::Team<Group>{group}, plan, reinterpret_cast<uintptr_t>(buf),
            reinterpret_cast<uintptr_t>(in), offset, bytes, scratch.memory, scratch.bytes))
        unpack(group, plan, in, buf, offset, bytes);
}

template <class Group, unsigned word, Level... levels>
UCD_GPU_FUNCTION void pack(const Group &group, const KnownPlan<word, levels...> &known,
                           const void *buf, uint64_t offset, uint64_t bytes, void *out) {
    device_code::move_known<device_code::Direction::pack, word, levels...>(
        group, known.plan, reinterpret_cast<uintptr_t>(buf), reinterpret_cast<uintptr_t>(out),
        offset, bytes);
}

template <class Group, unsigned word, Level... levels>
UCD_GPU_FUNCTION void pack(const Group &group, const KnownPlan<word, levels...> &known,
                           const void *buf, uint64_t offset, uint64_t bytes, void *out,
                           const Scratch &scratch) {
    if (!device_code::move_known_by_tiles<device_code::Direction::pack, word,
                                          strided_levels<levels...>>(
            tiles::Team<Group>{group}, known.plan, reinterpret_cast<uintptr_t>(buf),
            reinterpret_cast<uintptr_t>(out), offset, bytes, scratch.memory, scratch.bytes))
        pack(group, known, buf, offset, bytes, out);
}

template <class Group, unsigned word, Level... levels>
UCD_GPU_FUNCTION void unpack(const Group &group, const KnownPlan<word, levels...> &known,
                             const void *in, void *buf, uint64_t offset, uint64_t bytes) {
    device_code::move_known<device_code::Direction::unpack, word, levels...>(
        group, known.plan, reinterpret_cast<uintptr_t>(buf), reinterpret_cast<uintptr_t>(in),
        offset, bytes);
}

template <class Group, unsigned word, Level... levels>
UCD_GPU_FUNCTION void unpack(const Group &group, const KnownPlan<word, levels...> &known,
                             const void *in, void *buf, uint64_t offset, uint64_t bytes,
                             const Scratch &scratch) {
    if (!device_code::move_known_by_tiles<device_code::Direction::unpack, word,
                                          strided_levels<levels...>>(
            tiles::Team<Group>{group}, known.plan, reinterpret_cast<uintptr_t>(buf),
            reinterpret_cast<uintptr_t>(in), offset, bytes, scratch.memory, scratch.bytes))
        unpack(group, known, in, buf, offset, bytes);
}

// Copies bytes [offset, offset + bytes) of the stream of `from` in `in` to the same bytes of the
// stream of `to` in `out`, without a packed stream between them. Otherwise as pack(). The two
// layouts must not overlap.
template <class Group>
UCD_GPU_FUNCTION void copy(const Group &group, const ucd_device_plan_t &from, const void *in,
                           const ucd_device_plan_t &to, void *out, uint64_t offset,
                           uint64_t bytes) {
    device_code::copy_by_plans(group, from, reinterpret_cast<uintptr_t>(in), to,
                               reinterpret_cast<uintptr_t>(out), offset, bytes);
}

// The words of both plans are of the narrower width.
template <class Group, unsigned from_word, Level... from_levels, unsigned to_word,
          Level... to_levels>
UCD_GPU_FUNCTION void copy(const Group &group, const KnownPlan<from_word, from_levels...> &from,
                           const void *in, const KnownPlan<to_word, to_levels...> &to, void *out,
                           uint64_t offset, uint64_t bytes) {
    constexpr unsigned word = from_word < to_word ? from_word : to_word;
    constexpr unsigned from_strided = strided_levels<from_levels...>;
    constexpr unsigned to_strided = strided_levels<to_levels...>;
    device_code::copy_known < from_strided<to_strided ? from_strided : to_strided,
                                           device_code::KnownPlaces<word, from_levels...>,
                                           device_code::KnownPlaces<word, to_levels...>>(
                                  group, from.plan, reinterpret_cast<uintptr_t>(in), to.plan,
                                  reinterpret_cast<uintptr_t>(out), offset, bytes);
}

// Returns the displacement from the buffer's address of byte `offset` of the packed stream, as a
// number that wraps if it is negative. Sets *contiguous, which may not be null, to the number of
// bytes, at least 1, that follow each other from there on in memory and in the stream. The byte
// after them may be adjacent, too. `offset` is less than plan.bytes.
UCD_GPU_FUNCTION uint64_t locate(const ucd_device_plan_t &plan, uint64_t offset,
                                 uint64_t *contiguous) {
    assert(plan.version == UCD_DEVICE_PLAN__VERSION && plan.struct_size == sizeof plan);
    assert(offset < plan.bytes);
    const device_code::Stretch found = device_code::locate(plan, 0, offset);
    const uint64_t rest = plan.bytes - offset;
    *contiguous = found.bytes < rest ? found.bytes : rest;
    return found.place;
}

} // namespace ucd::device
