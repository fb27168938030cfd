// A bar on standard error while work takes long.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ucdtool {

class Progress {
public:
    // auto: on a terminal, once the work has taken a while; always: with each step; never.
    Progress(uint64_t total_bytes, const std::string &choice);
    ~Progress(); // takes the bar away
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    void advance(uint64_t bytes);
    // "1.5 GiB in 0.8 s, 1.9 GiB/s"
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
