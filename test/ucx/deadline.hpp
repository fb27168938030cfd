// A limit of time for a loop that makes progress.
#pragma once

#include <chrono>
#include <thread>

namespace ucdtest {

class Deadline {
public:
    explicit Deadline(double seconds)
        : end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds)) {}
    // Whoever has asked often is waiting for a limit of time, or for a thread that has no
    // processor: the answer takes longer then, so that others have this one.
    bool has_passed() {
        if (++asked_ > 1000) std::this_thread::sleep_for(std::chrono::microseconds(50));
        return std::chrono::steady_clock::now() > end_;
    }

private:
    std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
    unsigned asked_ = 0;
};

} // namespace ucdtest
