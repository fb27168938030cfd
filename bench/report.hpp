// What was measured: kept, printed as tables while it is measured, and written as CSV and JSON.
#pragma once

#include "measure.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

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

class Report {
public:
    void add(Result result) { results_.push_back(std::move(result)); }
    const std::vector<Result> &results() const { return results_; }

    // A line for each result. Throw std::runtime_error if the file cannot be written.
    void write_csv(const std::string &path) const;
    void write_json(const std::string &path, const Facts &facts) const;

private:
    std::vector<Result> results_;
};

// Tells on stderr what is going on. On a terminal the next line takes the place of the last.
class Progress {
public:
    Progress();
    void say(const std::string &text);
    void clear();

private:
    bool terminal_, shown_ = false;
};

// Columns of fixed width on stdout, so that each row can be printed when it is known.
class Table {
public:
    struct Column {
        std::string title;
        unsigned width;
    };
    // The first column is aligned to the left, the others to the right.
    Table(Progress &progress, std::vector<Column> columns);
    void row(const std::vector<std::string> &cells);

private:
    Progress &progress_;
    std::vector<Column> columns_;
    bool has_header_ = false;
};

// For cells.
std::string three_digits(double value); // 0.873, 8.73, 87.3, 873
std::string duration(double seconds);   // 8.73 ns, 8.73 us, ...
std::string ratio(double value);        // 0.87

} // namespace bench
