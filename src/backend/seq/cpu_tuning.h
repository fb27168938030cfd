// Tuning per processor family: for rows of many small blocks whose cache lines fall into few cache
// sets, and for large permutations. The measurements are in docs/measurements/findings.md. Row
// lengths are in blocks, strides in bytes. Families that were not measured have neutral values,
// with which these rows are moved like all others.
#pragma once

#include <cstdint>

namespace ucd::seq {

struct CpuTuning {
    // For packing:
    struct {
        uint64_t row = UINT64_MAX; // the shortest row that needs one of the ways below
        uint64_t stride = 1;       // and the number that its stride is a multiple of
        // For rows up to this length, with strides that are multiples of fenced_stride, waiting for
        // all loads after every eighth block pays. The second limit is for blocks below 4 bytes,
        // for which there is no other way to pack.
        uint64_t fenced_stride = 1, fenced_row = 0, fenced_narrow_row = 0;
        // Whether to wait in longer rows as well, in which lines are prefetched.
        bool fenced_from_memory = false;
    } pack;
    // For unpacking:
    struct {
        uint64_t row = UINT64_MAX, stride = 1; // as above
        // The first entry applies whose stride divides that of the row. For rows up to its length,
        // loading the lines and waiting for them before they are written pays.
        struct {
            uint64_t stride, row;
        } fenced[2] = {{1, 0}, {1, 0}};
        // For rows of at least this length, storing in groups of eight pays.
        uint64_t by_eights = UINT64_MAX;
    } unpack;
    // Whether permutations write past the caches even if the lines of the target begin anywhere in
    // cache lines.
    bool unaligned_past_caches = true;
};

// For other families, and processors of other makers.
inline constexpr CpuTuning neutral_cpu{};

// Zen 4, and Zen 3, which has the same family number. Waiting gains a little in short columns with
// strides of whole pages, and costs up to a factor of four elsewhere. Prefetching packs 1.1 to 1.8
// times as fast as a plain loop. Rows of 32,768 blocks are unpacked 1.2 to 1.6 times as fast in
// groups of eight.
inline constexpr CpuTuning amd_family_25{
    .pack = {.row = 1024,
             .stride = 2048,
             .fenced_stride = 16384,
             .fenced_row = 16384,
             .fenced_narrow_row = 16384,
             .fenced_from_memory = false},
    .unpack = {.row = 1024,
               .stride = 1024,
               .fenced = {{16384, 16384}, {4096, 2048}},
               .by_eights = 32768},
};

// Zen 5. Waiting packs columns of a power of two 1.3 to 2.4 times as fast as a plain loop, and
// unpacks them 1.1 to 2 times as fast. From 32,768 blocks on, only a part of a row fits in the
// outer caches. Permutations of lines that begin anywhere in cache lines take 1.5 times as long
// with blocks of 1 byte if they write past the caches, and as long with blocks of 4 or 8.
inline constexpr CpuTuning amd_family_26{
    .pack = {.row = 1024,
             .stride = 2048,
             .fenced_stride = 2048,
             .fenced_row = 32767,
             .fenced_narrow_row = UINT64_MAX,
             .fenced_from_memory = true},
    .unpack = {.row = 1024, .stride = 1024, .fenced = {{1024, UINT64_MAX}, {1, 0}}},
    .unaligned_past_caches = false,
};

// The delay between two loads of a group that is waited for. Issuing each load a little later makes
// packing half as fast again (family 26).
inline constexpr unsigned nops_between_fenced_loads = 8;

// The following values are the same on the three families that were measured: AMD's 25 and 26, and
// Intel's 6, model 207.

// Rows with fewer blocks are never treated as long rows.
inline constexpr uint64_t long_row = 256;
// If all lines of a row fall into every 32nd cache set or fewer, only a part of a longer row than
// this fits in the outer caches.
inline constexpr uint64_t held_row = 32768;
// The capacities in bytes that count as those of the outer and of the inner caches.
inline constexpr uint64_t outer_caches = uint64_t{32} << 20, inner_caches = uint64_t{1} << 20;

// Permutations of this many bytes write past the caches.
inline constexpr uint64_t past_caches = uint64_t{6} << 20;

const CpuTuning &tuning_of(bool is_amd, unsigned family);

// The tuning for this machine.
extern const CpuTuning *const cpu_tuning;

} // namespace ucd::seq
