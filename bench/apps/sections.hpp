// The parts of the program. Each is done by processes of its own.
#pragma once

#include "apps/peers.hpp"
#include "apps/stencil_part.hpp"
#include "apps/turns.hpp"
#include "report.hpp"

#include <string>
#include <vector>

namespace bench::apps {

struct Options {
    Effort effort{.repetitions = 11, .seconds = 5e-3, .clock = Clock::wall};
    std::string memory = "device", csv;
    std::vector<int> devices{0};     // round robin
    std::vector<std::int64_t> sizes; // empty: the section's own
    ProcessGrid processes{2, 2};     // of the stencil
    double budget = 75;              // seconds after which a section begins nothing new
};

// What a section has in each of its processes.
struct Crew {
    const Options &options;
    Peers &peers;
    Place &place;
    Progress progress{};
    Report report{};

    bool prints() const { return peers.seat() == 0; }
    void say(const std::string &text) {
        if (prints()) progress.say(text);
    }
    // Which devices the processes have, and between whom data goes, in words.
    std::string devices() const;
    const char *between() const {
        return peers.seats() == 1 ? "from a process to itself" : "between two processes";
    }
    // Throws in all processes if one of them has found wrong bytes.
    void agree_on(std::uint64_t wrong_bytes, const std::string &what);
    // Times the ways, each of which does `parts` of what is to be reported.
    std::vector<Timing> measure(const std::string &section, const std::string &subject,
                                const std::string &operation, std::uint64_t bytes,
                                std::span<const Way> ways, unsigned parts = 1);
};

void run_stencil(Crew &crew);
void run_ping_pong(Crew &crew);
void run_particles(Crew &crew);
void run_busy(Crew &crew);

} // namespace bench::apps
