#include "harness/measure.hpp"

#include <algorithm>
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

class Stopwatch {
public:
    Stopwatch(const Effort &effort, Company *company) : effort_(effort), company_(company) {}

    double seconds_of(const Work &work, std::uint64_t times) const {
        if (company_) company_->meet();
        const double start = now(effort_.clock);
        work(times);
        if (company_) company_->meet();
        return now(effort_.clock) - start;
    }

    // How often in a row takes at least the effort's seconds.
    std::uint64_t warm_up(const Work &work) const {
        std::uint64_t times = 1;
        work(times);
        for (;;) {
            const double elapsed = undisturbed(work, times);
            if (elapsed >= effort_.seconds) return times;
            // A fifth more than it seems to take, but not many times more at once: short times say
            // little.
            const double wanted =
                1.2 * static_cast<double>(times) * effort_.seconds / std::max(elapsed, 1e-9);
            const double most = 16.0 * static_cast<double>(times);
            times = std::max(times + 1, static_cast<std::uint64_t>(std::min(wanted, most)));
        }
    }

    // How often a contender is timed.
    unsigned turns(const Work &work, std::uint64_t times) const {
        if (effort_.max_seconds == 0) return effort_.repetitions;
        const double one = agreed(seconds_of(work, times));
        const double most = std::max(effort_.max_seconds / one, 3.0);
        return static_cast<unsigned>(std::min<double>(effort_.repetitions, most));
    }

private:
    double agreed(double seconds) const { return company_ ? company_->agree(seconds) : seconds; }

    // The shorter of two tries counts where tries are short: a longer one was interrupted.
    double undisturbed(const Work &work, std::uint64_t times) const {
        const double first = agreed(seconds_of(work, times));
        if (first >= 2 * effort_.seconds) return first;
        return std::min(first, agreed(seconds_of(work, times)));
    }

    const Effort &effort_;
    Company *company_;
};

} // namespace

std::vector<Timing> time_in_turns(std::span<const Contender> contenders, const Effort &effort,
                                  Company *company) {
    const Stopwatch stopwatch(effort, company);
    std::vector<Timing> timings;
    std::vector<unsigned> turns;
    for (const Contender &c : contenders) {
        timings.push_back({.times = stopwatch.warm_up(c.work), .seconds = {}});
        turns.push_back(stopwatch.turns(c.work, timings.back().times));
        timings.back().seconds.reserve(turns.back());
    }
    // What the one before leaves in the caches helps some and hinders others: nobody always follows
    // the same one.
    std::minstd_rand random; // the same orders in every run, and in all processes
    std::vector<std::size_t> order(contenders.size());
    std::iota(order.begin(), order.end(), 0);
    for (unsigned repetition = 0; repetition < effort.repetitions; ++repetition) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) {
            if (repetition >= turns[i]) continue;
            if (!company || timings[i].times > 1) contenders[i].work(1);
            const double elapsed = stopwatch.seconds_of(contenders[i].work, timings[i].times);
            timings[i].seconds.push_back(elapsed / static_cast<double>(timings[i].times));
        }
    }
    return timings;
}

} // namespace bench
