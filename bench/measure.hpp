// Timing of several pieces of work in turns, so that whatever disturbs the machine disturbs all.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Does something so many times in a row. The loop is inside, so that a call of a few nanoseconds
// can be timed.
using Work = std::function<void(std::uint64_t times)>;

// The compiler must neither leave out one of the calls nor join two.
template <class Action>
Work repeated(Action action) {
    return [action](std::uint64_t times) mutable {
        for (; times > 0; --times) {
            action();
            asm volatile("" ::: "memory");
        }
    };
}

struct Contender {
    std::string name;
    Work work;
};

enum class Clock {
    thread, // the calling thread's time on a processor: what other processes take does not count
    wall,
};

struct Effort {
    unsigned repetitions = 21;
    double seconds = 500e-6; // at least, per repetition
    Clock clock = Clock::thread;
};

struct Timing {
    std::uint64_t times = 0;     // in a row, per repetition
    std::vector<double> seconds; // for one, per repetition

    double median() const;
    double best() const;
};

// Each contender is warmed up, then in each repetition all have their turn, another one first each
// time. Before its turn is timed a contender does its work once, so that it finds the caches as it
// leaves them itself.
std::vector<Timing> time_in_turns(std::span<const Contender> contenders, const Effort &effort);

double geometric_mean(std::span<const double> values);

} // namespace bench
