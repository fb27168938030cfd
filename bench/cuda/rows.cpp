#include "rows.hpp"

#include <fmt/core.h>

#include <exception>

namespace bench::gpu {

Rows::Rows(Run &run, double budget_seconds)
    : run_(run),
      end_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                  std::chrono::duration<double>(budget_seconds))) {}

void Rows::row(const std::string &name, const std::function<void()> &measure) {
    if (!run_.wants(name)) return;
    if (std::chrono::steady_clock::now() >= end_) {
        if (!told_) fmt::print("the time is used up: \"{}\" and what follows is left out\n", name);
        told_ = true;
        return;
    }
    try {
        measure();
    } catch (const std::exception &e) {
        run_.progress.clear();
        fmt::print("{}: failed: {}\n", name, e.what());
        ++failures_;
    }
}

} // namespace bench::gpu
