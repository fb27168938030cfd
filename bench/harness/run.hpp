// One run of a program: what was asked for, what has been measured, and its rows, each on its own.
#pragma once

#include "harness/measure.hpp"
#include "report/report.hpp"
#include "report/table.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace bench {

struct Settings {
    Effort effort;
    std::string filter;   // of the names of rows; empty: all
    double budget = 3600; // seconds after which no new row starts
    std::string csv, json;
};

class Run {
public:
    explicit Run(const Settings &settings, Company *company = nullptr);

    Effort effort; // a section may have its own clock
    Progress progress;

    bool wants(const std::string &name) const {
        return name.find(settings_.filter) != std::string::npos;
    }
    bool wants_all() const { return settings_.filter.empty(); }

    // Measures a row of a table, unless the filter leaves its name out or the time is used up. What
    // fails in it is told, and the next row goes on; with company the whole section fails.
    void row(const std::string &name, const std::function<void()> &measure);
    unsigned failures() const { return failures_; }

    // Times the contenders in turns, each of which does `parts` of what is to be reported, and adds
    // the results to the report.
    Comparison measure(const std::string &section, const std::string &subject,
                       const std::string &operation, std::uint64_t bytes,
                       std::span<const Contender> contenders, unsigned parts = 1);
    void add(Result result) { report_.add(std::move(result)); }
    const std::vector<Result> &results() const { return report_.results(); }

    // Throws, in all processes, if one of them has found wrong bytes.
    void check_none(std::uint64_t wrong_bytes, const std::string &what) const;

    // The files that were asked for; of the first process.
    void write(const Facts &facts = {}) const;

private:
    bool time_is_left(const std::string &name);

    Settings settings_;
    Company *company_;
    Report report_;
    std::chrono::steady_clock::time_point end_;
    unsigned failures_ = 0;
    bool told_ = false;
};

} // namespace bench
