// A kernel that occupies the whole device until it is told to stop.
#pragma once

#include "names.hpp"

namespace ucdtest {

class Spinning {
public:
    Spinning();  // returns when all of its blocks run
    ~Spinning(); // stops it, and waits until it has
    Spinning(const Spinning &) = delete;
    Spinning &operator=(const Spinning &) = delete;
    void stop();

private:
    gpuStream_t stream_ = nullptr;
    volatile int *stop_ = nullptr; // after it, one number for each block: whether it runs
};

// value[i] = i + by, in the stream.
void write_numbers(int *values, int count, int by, gpuStream_t stream);

} // namespace ucdtest
