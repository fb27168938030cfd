// Timing of several contenders in turns, so that whatever disturbs the machine disturbs all.
#pragma once

#include "report/result.hpp"

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
    // What takes long is repeated less often: about so many seconds for each contender, but at
    // least three times. 0: no limit.
    double max_seconds = 0;
};

// Processes that measure together. All of them call each function.
class Company {
public:
    virtual ~Company() = default;
    virtual unsigned seat() const = 0; // 0: the first process, which prints
    virtual void meet() = 0;
    virtual double agree(double number) = 0;             // on the first process's number
    virtual std::uint64_t sum(std::uint64_t number) = 0; // of all processes' numbers
};

// Each contender is warmed up, then in each repetition all have their turn, in another order each
// time. Before its turn is timed a contender does its work once, so that it finds the caches as it
// leaves them itself. With company, times are those of the first process, from when all begin until
// all are done; those of the others mean nothing, and what takes long is not done once before.
std::vector<Timing> time_in_turns(std::span<const Contender> contenders, const Effort &effort,
                                  Company *company = nullptr);

} // namespace bench
