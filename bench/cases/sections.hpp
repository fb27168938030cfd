// The sections of ucd-bench. Each prints tables as it goes.
#pragma once

#include "baselines/mpi/mpi_peer.hpp"
#include "baselines/reductions.hpp"
#include "harness/device.hpp"
#include "harness/run.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

// These rows are copied between host and device.
struct RowSizes {
    std::vector<std::int64_t> widths = {8, 64, 512, 4096, 65536}; // bytes
    std::vector<std::int64_t> totals = {64, 4096, 65536};         // KiB
    std::int64_t pitch = 0; // the distance of rows in bytes; 0: twice the width
};

struct Setting {
    Run &run;
    Device &device;
    const MpiPeer *mpi;                     // may be null
    const std::vector<std::int64_t> &sizes; // of run_sweep, packed KiB
    const std::string &type;                // of run_type, in the language of the tool
    std::int64_t count;                     // of that type
    const std::string &hptt;                // of run_permutations: its library; may be empty
    const RowSizes &rows;
};

// Packs and unpacks with an op, of these sizes (packed KiB).
void measure_reductions(const Setting &setting, std::span<const ReductionMoves> all,
                        const std::vector<std::int64_t> &sizes);

// Conversions while moving, beside moving first and converting afterwards.
void run_conversions(const Setting &setting);
// Permutations of the dimensions of an array, in the memory of any device.
void run_permutations(const Setting &setting);

namespace cpu {

// Whole packs and unpacks of each layout, beside hand-written loops, memcpy and MPI.
void run_layouts(const Setting &setting);
void list_layouts(const std::string &filter);
void run_apps(const Setting &setting); // the same for the layouts that applications send

void run_pieces(const Setting &setting); // parts, wherever they start; lists of segments in chunks
void run_calls(const Setting &setting);  // what a small call costs, and creating and freeing types
void run_sweep(const Setting &setting);  // vectors of many blocks, strides and lengths
void run_fresh(const Setting &setting);  // lists that are new every time: create, pack, free
void run_equivalents(const Setting &setting); // equal layouts, described differently
void run_reductions(const Setting &setting);
void run_type(const Setting &setting);    // throws std::runtime_error if it is none
void run_kernels(const Setting &setting); // each generated kernel of the CPU by itself
void run_batches(const Setting &setting); // many small moves in one call
void run_threads(const Setting &setting); // one call in two threads

} // namespace cpu

namespace gpu {

// Layouts in device memory, packed there and in pinned memory; small calls; pieces in flight.
void run_layouts(const Setting &setting);

void run_reductions(const Setting &setting); // unpacks with an op
void run_batches(const Setting &setting);
void run_copies(const Setting &setting); // from layout to layout
void run_memories(const Setting &setting);
void run_rows(const Setting &setting);    // between host and device
void run_fresh(const Setting &setting);   // lists that are new every time
void run_busy(const Setting &setting);    // packs beside other work; blocks; engines
void run_shapes(const Setting &setting);  // of many kinds, to and from host memory too
void run_threads(const Setting &setting); // many calls of several threads
void run_papers(const Setting &setting);  // what two papers measured
void run_tuning(const Setting &setting);  // which engine is faster, and the figures to choose by

} // namespace gpu
} // namespace bench
