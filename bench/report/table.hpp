// Tables on stdout, printed row by row while a run goes on, and what goes into their cells.
#pragma once

#include "report/result.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Tells on stderr what is going on. On a terminal the next line takes the place of the last.
class Progress {
public:
    explicit Progress(bool silent = false);
    bool silent() const { return silent_; } // of several processes only one prints
    void say(const std::string &text);
    void clear();

private:
    bool silent_, terminal_, shown_ = false;
};

// For cells.
std::string three_digits(double value); // 0.873, 8.73, 87.3, 873
std::string duration(double seconds);   // 8.73 ns, 8.73 us, ...
std::string ratio(double value);        // 0.87

// The results of contenders that did the same, found by name: the one of exactly that name, or else
// the fastest whose name is longer by a comma and more: "hand" finds the best of "hand, loop" and
// "hand, by case". The cells of those that did not take part are "-".
class Comparison {
public:
    explicit Comparison(std::span<const Result> results)
        : results_(results.begin(), results.end()) {}

    const std::vector<Result> &results() const { return results_; } // in the contenders' order
    const Result *find(std::string_view name) const;
    double seconds(std::string_view name) const; // of one that took part
    // How many times as fast as `than` the contender is.
    std::optional<double> speed(std::string_view contender, std::string_view than) const;

    std::string rate(std::string_view name) const; // GB/s
    std::string time(std::string_view name) const;
    std::string speedup(std::string_view contender, std::string_view than) const;
    // What is behind the comma of the fastest one's name.
    std::string variant(std::string_view name) const;

private:
    std::vector<Result> results_;
};

// Of fixed width, so that each row can be printed when it is known.
struct Column {
    std::string title;
    unsigned width;
    // Of a row's comparison. Null: the row is given this cell.
    std::function<std::string(const Comparison &)> cell = nullptr;
};

// Columns that the comparison fills. Titles are the contenders' names if none are given.
namespace column {
Column subject(std::string title, unsigned width);
Column operation(unsigned width = 6);
Column kib(unsigned width); // packed
Column mib(unsigned width);
Column rate(std::string contender, unsigned width, std::string title = {});
Column time(std::string contender, unsigned width, std::string title = {});
Column speedup(std::string contender, std::string than, unsigned width, std::string title = {});
} // namespace column

class Table {
public:
    // The first column is aligned to the left, the others to the right.
    Table(Progress &progress, std::vector<Column> columns);
    // Those of `given` go, in order, to the columns that the comparison does not fill.
    void row(const Comparison &comparison, const std::vector<std::string> &given = {});
    void row(const std::vector<std::string> &cells);

private:
    Progress &progress_;
    std::vector<Column> columns_;
    bool has_header_ = false;
};

} // namespace bench
