// Many worlds, one after the other.
#pragma once

#include "world.hpp"

#include <string>

namespace ucdfuzz {

struct Campaign {
    Plan plan;
    std::uint64_t seed = 1;
    std::uint64_t worlds = 0, messages = 0, seconds = 0; // 0: does not end it
    bool replays = false;
    std::uint64_t replay = 0; // the one world
    bool keep_going = false;
    std::string until;   // then: ends when all these kinds are found, with commas between
    std::string options; // to be told with a replay
};

// What main returns.
int run(const Campaign &campaign);

} // namespace ucdfuzz
