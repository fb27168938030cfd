// A progress bar on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ucdtool {

class Progress {
public:
    // `choice`: auto shows the bar on a terminal if the work takes a while, always shows each step,
    // never shows nothing.
    Progress(uint64_t total_bytes, const std::string &choice);
    ~Progress(); // erases the bar
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    void advance(uint64_t bytes);
    // For example, "1.5 GiB in 0.8 s, 1.9 GiB/s".
    std::string summary() const;

private:
    using Clock = std::chrono::steady_clock;
    void draw();
    double seconds() const;

    uint64_t total_, done_ = 0;
    bool wanted_, at_once_, drawn_ = false;
    Clock::time_point start_ = Clock::now(), last_ = start_;
};

} // namespace ucdtool
