// The sections of ucd-bench for host memory. Each prints a table as it goes.
#pragma once

#include "baselines/mpi/mpi_peer.hpp"
#include "harness/device.hpp"
#include "harness/run.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::cpu {

struct Setting {
    Run &run;
    Device &host;
    const MpiPeer *mpi; // may be null
};

// Whole packs and unpacks of each layout, beside hand-written loops, memcpy and MPI.
void run_layouts(const Setting &setting);
void list_layouts(const std::string &filter);

// The same for the layouts that applications send.
void run_apps(const Setting &setting);

// Parts of large layouts, wherever they start; lists of segments in chunks.
void run_pieces(const Setting &setting);

// What a small call costs, and creating and freeing types.
void run_calls(const Setting &setting);

// Vectors of many blocks, strides and lengths (packed KiB).
void run_sweep(const Setting &setting, const std::vector<std::int64_t> &sizes);

// Lists that are new every time: create, pack, free.
void run_fresh(const Setting &setting);

// Equal layouts, described differently.
void run_equivalents(const Setting &setting);

// A type in the language of the tool, so many times. Throws std::runtime_error if it is none.
void run_type(const Setting &setting, const std::string &expression, std::int64_t count);

// Each generated kernel of the CPU by itself.
void run_kernels(const Setting &setting);

// Many small moves in one call; one call in two threads.
void run_batches(const Setting &setting);
void run_threads(const Setting &setting);

} // namespace bench::cpu
