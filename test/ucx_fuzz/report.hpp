// What has been found, and how to see it again.
#pragma once

#include <cstdint>
#include <string>

namespace ucdfuzz {

// What a process that looks for findings shares with the one that started it.
struct Tally {
    std::uint64_t worlds = 0, messages = 0, bytes = 0;
    std::uint64_t world_seed = 0; // of the one that runs
};

// Findings are lines on `descriptor` and do not end this process, unless that is negative.
void report_to(int descriptor);
// To be called before each world: what is found is found in this one.
void begin_world(Tally &tally, std::uint64_t seed, const std::string &options);
// Has sanitizers, signals and worlds without end say which world it was.
void watch();
// As watch() has said it; for whoever reads what this process wrote.
inline constexpr const char *replay_mark = "replay: ";

} // namespace ucdfuzz
