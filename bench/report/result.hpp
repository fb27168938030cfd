// What was measured: the times of one contender, and what they are of.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Timing {
    std::uint64_t times = 0;     // in a row, per repetition
    std::vector<double> seconds; // for one, per repetition

    double median() const;
    double best() const;
};

struct Result {
    std::string section;   // which part of the program: "layouts", "pieces", ...
    std::string subject;   // the layout or call
    std::string operation; // "pack", "unpack", ...
    std::string contender;
    std::uint64_t bytes = 0; // packed bytes moved each time; 0 where time is what counts
    Timing timing;

    double seconds() const { return timing.median(); }
    double gigabytes_per_second() const { return static_cast<double>(bytes) / seconds() * 1e-9; }
};

// Facts about the run, such as the processor's name, in the order in which they were added.
using Facts = std::vector<std::pair<std::string, std::string>>;

double geometric_mean(const std::vector<double> &values);

} // namespace bench
