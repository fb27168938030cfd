#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>
#include <random>

namespace bench {
namespace {

double now(Clock clock) {
    timespec t;
    clock_gettime(clock == Clock::thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double seconds_of(const Work &work, std::uint64_t times, Clock clock) {
    const double start = now(clock);
    work(times);
    return now(clock) - start;
}

// How often in a row takes at least `seconds`. The shorter of two tries counts: a longer one was
// interrupted.
std::uint64_t warm_up(const Work &work, const Effort &effort) {
    std::uint64_t times = 1;
    work(times);
    for (;;) {
        const double elapsed =
            std::min(seconds_of(work, times, effort.clock), seconds_of(work, times, effort.clock));
        if (elapsed >= effort.seconds) return times;
        // A fifth more than it seems to take, but not many times more at once: short times say
        // little.
        const double wanted =
            1.2 * static_cast<double>(times) * effort.seconds / std::max(elapsed, 1e-9);
        const double most = 16.0 * static_cast<double>(times);
        times = std::max(times + 1, static_cast<std::uint64_t>(std::min(wanted, most)));
    }
}

} // namespace

double Timing::median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double Timing::best() const {
    return *std::min_element(seconds.begin(), seconds.end());
}

std::vector<Timing> time_in_turns(std::span<const Contender> contenders, const Effort &effort) {
    std::vector<Timing> timings;
    for (const Contender &c : contenders) {
        timings.push_back({.times = warm_up(c.work, effort), .seconds = {}});
        timings.back().seconds.reserve(effort.repetitions);
    }
    // What the one before leaves in the caches helps some and hinders others: nobody always follows
    // the same one.
    std::minstd_rand random; // the same orders in every run
    std::vector<std::size_t> order(contenders.size());
    std::iota(order.begin(), order.end(), 0);
    for (unsigned repetition = 0; repetition < effort.repetitions; ++repetition) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) {
            contenders[i].work(1);
            const double elapsed = seconds_of(contenders[i].work, timings[i].times, effort.clock);
            timings[i].seconds.push_back(elapsed / static_cast<double>(timings[i].times));
        }
    }
    return timings;
}

double geometric_mean(std::span<const double> values) {
    double logarithms = 0;
    for (const double v : values) logarithms += std::log(v);
    return std::exp(logarithms / static_cast<double>(values.size()));
}

} // namespace bench
