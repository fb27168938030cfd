#include "apps/turns.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace bench::apps {
namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_of(Peers &peers, const Way &way, std::uint64_t times) {
    peers.meet();
    const auto start = SteadyClock::now();
    for (; times > 0; --times) way.once();
    peers.meet();
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// How often in a row takes at least that long; at most doubled or so by a wrong first guess.
std::uint64_t warm_up(Peers &peers, const Way &way, double seconds) {
    way.once();
    std::uint64_t times = 1;
    for (;;) {
        const double elapsed = peers.agree(seconds_of(peers, way, times));
        if (elapsed >= seconds) return times;
        const double wanted = 1.2 * static_cast<double>(times) * seconds / std::max(elapsed, 1e-9);
        const double most = 16.0 * static_cast<double>(times);
        times = std::max(times + 1, static_cast<std::uint64_t>(std::min(wanted, most)));
    }
}

} // namespace

std::vector<Timing> time_in_turns(Peers &peers, std::span<const Way> ways, const Effort &effort) {
    std::vector<Timing> timings;
    for (const Way &way : ways)
        timings.push_back({.times = warm_up(peers, way, effort.seconds), .seconds = {}});
    for (unsigned repetition = 0; repetition < effort.repetitions; ++repetition)
        for (std::size_t turn = 0; turn < ways.size(); ++turn) {
            const std::size_t i = (turn + repetition) % ways.size();
            if (timings[i].times > 1) ways[i].once();
            timings[i].seconds.push_back(seconds_of(peers, ways[i], timings[i].times) /
                                         static_cast<double>(timings[i].times));
        }
    return timings;
}

Budget::Budget(double seconds)
    : end_(SteadyClock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                    std::chrono::duration<double>(seconds))) {}

bool Budget::lasts(Peers &peers, const std::string &row) {
    const bool lasts = peers.agree(SteadyClock::now() < end_ ? 1 : 0) != 0;
    if (!lasts && !told_ && peers.seat() == 0)
        fmt::print("the time is used up: \"{}\" and what follows is left out\n", row);
    told_ = told_ || !lasts;
    return lasts;
}

} // namespace bench::apps
