// The sections of ucd-app-bench. Each is done by processes of its own.
#pragma once

#include "harness/device.hpp"
#include "harness/run.hpp"
#include "harness/ucx/peers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::apps {

// Where a process is among all, row by row.
struct ProcessGrid {
    unsigned rows = 1, columns = 1;
    std::int64_t row_of(unsigned seat) const { return seat / columns; }
    std::int64_t column_of(unsigned seat) const { return seat % columns; }
    std::optional<unsigned> neighbour(unsigned seat, int down, int right) const;
};

struct Options {
    Settings settings;
    std::string memory = "device";
    std::vector<std::int64_t> devices{0}; // round robin
    std::vector<std::int64_t> sizes;      // empty: the section's own
    ProcessGrid processes{2, 2};          // of the stencil
};

// What a section has in each of its processes.
struct Crew {
    const Options &options;
    Peers &peers;
    Device &device;
    Run &run;

    bool prints() const { return peers.seat() == 0; }
    const std::vector<std::int64_t> sizes(const std::vector<std::int64_t> &own) const {
        return options.sizes.empty() ? own : options.sizes;
    }
    // Where the data is, and between whom it goes, in words.
    std::string place() const;
};

void run_stencil(Crew &crew);
void run_ping_pong(Crew &crew);
void run_particles(Crew &crew);
void run_busy(Crew &crew);

} // namespace bench::apps
