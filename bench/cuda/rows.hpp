// Rows of tables, each on its own: what fails in one is told, and the next goes on.
#pragma once

#include "sections.hpp"

#include <chrono>
#include <functional>

namespace bench::gpu {

class Rows {
public:
    Rows(Run &run, double budget_seconds);
    // Unless the filter leaves the name out, or the time is used up.
    void row(const std::string &name, const std::function<void()> &measure);
    unsigned failures() const { return failures_; }

private:
    Run &run_;
    std::chrono::steady_clock::time_point end_;
    unsigned failures_ = 0;
    bool told_ = false;
};

void run_reductions(Run &run, Rows &rows); // unpacks with an op
void run_batches(Run &run, Rows &rows);
void run_copies(Run &run, Rows &rows); // from layout to layout
void run_memories(Run &run, Rows &rows);
void run_busy(Run &run, Rows &rows);   // packs beside other work; blocks; engines
void run_papers(Run &run, Rows &rows); // what two papers measured

} // namespace bench::gpu
