#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bench {
namespace {

double seconds_of(const Work &work, std::uint64_t times) {
    const auto start = std::chrono::steady_clock::now();
    work(times);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return elapsed.count();
}

// How often in a row takes at least `seconds`. The shorter of two tries counts: a longer one was
// interrupted.
std::uint64_t warm_up(const Work &work, double seconds) {
    std::uint64_t times = 1;
    work(times);
    for (;;) {
        const double elapsed = std::min(seconds_of(work, times), seconds_of(work, times));
        if (elapsed >= seconds) return times;
        // A fifth more than it seems to take, but not many times more at once: short times say
        // little.
        const double wanted = 1.2 * static_cast<double>(times) * seconds / std::max(elapsed, 1e-9);
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
        timings.push_back({.times = warm_up(c.work, effort.seconds), .seconds = {}});
        timings.back().seconds.reserve(effort.repetitions);
    }
    for (unsigned repetition = 0; repetition < effort.repetitions; ++repetition) {
        for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
            const std::size_t i = (repetition + turn) % contenders.size();
            contenders[i].work(1);
            const double elapsed = seconds_of(contenders[i].work, timings[i].times);
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
