// Timing of what several processes do together, each way in its turn.
#pragma once

#include "apps/peers.hpp"
#include "measure.hpp"

#include <chrono>

namespace bench::apps {

// A way to do the same thing, for all processes at once.
struct Way {
    std::string name;
    std::function<void()> once;
};

// As bench::time_in_turns, by the clock of the first process, from when all begin to when all are
// done; others get times that mean nothing. Another way is first in each repetition. What takes
// long is not done once before its turn.
std::vector<Timing> time_in_turns(Peers &peers, std::span<const Way> ways, const Effort &effort);

// Seconds that are left of a section's time, the same for all processes.
class Budget {
public:
    explicit Budget(double seconds);
    // Whether there is time to begin another row; told once if not.
    bool lasts(Peers &peers, const std::string &row);

private:
    std::chrono::steady_clock::time_point end_;
    bool told_ = false;
};

} // namespace bench::apps
