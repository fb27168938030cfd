// What was measured on families of processors, for rows of many small blocks whose lines compete
// for few places in the caches. The figures are in docs/measurements/findings.md; rows are counted
// in blocks, strides in bytes. A family that nobody has measured has the neutral values, with which
// such rows are moved as any others.
#pragma once

#include <cstdint>

namespace ucd::seq {

struct CpuTuning {
    // Packing.
    struct {
        uint64_t row = UINT64_MAX; // the shortest that it pays for
        uint64_t stride = 1;       // of which strides are multiples
        // Up to so long a row, at multiples of such a stride, it pays to wait for all loads after
        // every eighth block: in all, and of blocks below 4 bytes, which are packed in no other
        // way.
        uint64_t fenced_stride = 1, fenced_row = 0, fenced_narrow_row = 0;
        // Whether longer rows wait, too, while lines are asked for early.
        bool fenced_from_memory = false;
    } pack;
    // Unpacking.
    struct {
        uint64_t row = UINT64_MAX, stride = 1; // as above
        // The first of these whose stride divides the row's: up to so long a row, it pays to read
        // lines, and wait for them, before they are written.
        struct {
            uint64_t stride, row;
        } fenced[2] = {{1, 0}, {1, 0}};
        // From so long a row on, stores in groups of eight pay.
        uint64_t by_eights = UINT64_MAX;
    } unpack;
};

// Of one of AMD's families, or any other processor.
inline constexpr CpuTuning neutral_cpu{};

// Zen 4, and Zen 3, which has the same number. Waiting gains a little in short columns with strides
// of pages, and loses up to four times elsewhere; lines that are asked for early are packed 1.1 to
// 1.8 times as fast as by a plain loop; rows of 32,768 blocks are unpacked 1.2 to 1.6 times as fast
// in groups of eight.
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
// unpacks them 1.1 to 2 times as fast. From 32,768 blocks on, the outer caches hold no more than a
// part of a row.
inline constexpr CpuTuning amd_family_26{
    .pack = {.row = 1024,
             .stride = 2048,
             .fenced_stride = 2048,
             .fenced_row = 32767,
             .fenced_narrow_row = UINT64_MAX,
             .fenced_from_memory = true},
    .unpack = {.row = 1024, .stride = 1024, .fenced = {{1024, UINT64_MAX}, {1, 0}}},
};

// Between two loads that are waited for: each a little later than it could be makes packing half as
// fast again (family 26).
inline constexpr unsigned nops_between_fenced_loads = 8;

// What the next ones say is the same on the three families that were measured: AMD's 25 and 26, and
// Intel's 6, model 207.

// Rows of fewer blocks are not looked at.
inline constexpr uint64_t long_row = 256;
// Of rows that are longer than this, the outer caches hold no more than a part, if all lines fall
// into every 32nd place or fewer.
inline constexpr uint64_t held_row = 32768;
// Bytes that the outer caches hold, and the inner ones.
inline constexpr uint64_t outer_caches = uint64_t{32} << 20, inner_caches = uint64_t{1} << 20;

const CpuTuning &tuning_of(bool is_amd, unsigned family);

// That of the machine.
extern const CpuTuning *const cpu_tuning;

} // namespace ucd::seq
