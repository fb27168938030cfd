// The parts of the program. Each measures, prints a table as it goes, and adds to the report.
#pragma once

#include "measure.hpp"
#include "mpi_peer.hpp"
#include "report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Run {
    Effort effort;
    std::string filter; // of the names of layouts; empty: all
    const MpiPeer *mpi; // may be null
    Progress &progress;
    Report &report;

    bool wants(const std::string &name) const { return name.find(filter) != std::string::npos; }

    // Times the contenders in turns, and adds the results to the report. They are in the order of
    // the contenders, and stay valid until the next call.
    std::span<const Result> measure(const std::string &section, const std::string &subject,
                                    const std::string &operation, std::uint64_t bytes,
                                    std::span<const Contender> contenders);
};

// Whole packs and unpacks of each layout, beside hand-written loops, memcpy and MPI.
void run_layouts(Run &run);
void list_layouts(const std::string &filter);

// The same for the layouts that applications send.
void run_apps(Run &run);

// Parts of large layouts, wherever they start; lists of segments in chunks.
void run_pieces(Run &run);

// What a small call costs, and creating and freeing types.
void run_calls(Run &run);

// Vectors of many blocks, strides and lengths (packed KiB).
void run_sweep(Run &run, const std::vector<std::int64_t> &sizes);

// Equal layouts, described differently.
void run_equivalents(Run &run);

// A type in the language of the tool, so many times. Throws std::runtime_error if it is none.
void run_type(Run &run, const std::string &expression, std::int64_t count);

// Each generated kernel of the CPU by itself.
void run_kernels(Run &run);

// With an op; many small moves in one call; one call in two threads.
void run_reductions(Run &run);
void run_batches(Run &run);
void run_threads(Run &run);

} // namespace bench
