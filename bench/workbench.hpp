// The memory that one layout is measured on, the same for all contenders, and the check that what
// they do is right.
#pragma once

#include "measure.hpp"
#include "recipe.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace bench {

// Starts on a page, plus `stagger`: buffers that all start on a page would meet in few cache sets.
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(std::size_t bytes, std::size_t stagger = 0);
    char *data() const { return start_; }

private:
    struct Free {
        void operator()(char *memory) const { std::free(memory); }
    };
    std::unique_ptr<char, Free> memory_;
    char *start_ = nullptr;
};

class Workbench {
public:
    explicit Workbench(const Recipe &type);

    char *laid_out() const; // where displacement 0 is
    char *packed() const { return packed_.data(); }
    char *spare() const { return expected_.data(); } // as large as packed; checks need its content
    std::int64_t bytes() const { return bytes_; }    // packed
    std::int64_t footprint() const { return high_ - low_; }
    const std::vector<Segment> &segments() const { return segments_; }

    // Throw std::runtime_error, naming the contender, if it does not pack or unpack as the segments
    // say, or touches anything else.
    void check_packing(std::string_view contender, const Work &work);
    void check_unpacking(std::string_view contender, const Work &work);

private:
    void fill();
    char *at(const Segment &segment) const { return laid_out() + segment.displacement; }

    std::vector<Segment> segments_;
    std::int64_t bytes_ = 0, low_ = 0, high_ = 0;
    Buffer laid_out_, packed_, expected_;
};

} // namespace bench
