// Memory of CUDA's for one layout, and the check that what is measured is right.
#pragma once

#include "measure.hpp"
#include "recipe.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace bench::gpu {

// Throws with CUDA's words, and where.
void check_cuda(cudaError_t error, const char *what,
                std::source_location where = std::source_location::current());

enum class Memory { device, pinned };

class Buffer {
public:
    Buffer(std::size_t bytes, Memory memory);
    ~Buffer();
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    char *data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    char *data_ = nullptr;
    std::size_t bytes_;
    Memory memory_;
};

// The laid-out side is in device memory.
class Bench {
public:
    Bench(const Recipe &type, Memory packed);

    char *laid_out() const { return laid_out_.data() - low_; }
    char *packed() const { return packed_.data(); }
    char *spare() const { return spare_.data(); } // on the device, as large as packed
    std::size_t bytes() const { return packed_.bytes(); }

    // Throw std::runtime_error, naming the contender, if it does not move what the segments say, or
    // touches anything else.
    void check_packing(const Contender &contender);
    void check_unpacking(const Contender &contender);

private:
    Bench(std::vector<Segment> segments, Memory packed);
    std::vector<Segment> segments_;
    std::int64_t low_;
    Buffer laid_out_, packed_, spare_;
    std::vector<char> expected_;
};

} // namespace bench::gpu
