// All results of a run, written as CSV and JSON.
#pragma once

#include "report/result.hpp"

#include <span>
#include <string>
#include <vector>

namespace bench {

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

} // namespace bench
