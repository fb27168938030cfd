// How long the bytes of a move take to stream, whatever moves them.
#pragma once

#include "workbench.hpp"

namespace bench {

Work memcpy_work(char *to, const char *from, std::int64_t bytes);

// Copies as many bytes as a move of the layout brings over the bus: the cache lines that it touches,
// and its packed bytes.
class Roofline {
public:
    explicit Roofline(const Workbench &bench);
    Work work() const { return memcpy_work(to_.data(), from_.data(), bytes_); }

private:
    std::int64_t bytes_;
    Buffer from_, to_;
};

} // namespace bench
