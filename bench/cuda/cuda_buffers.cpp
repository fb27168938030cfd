#include "cuda_buffers.hpp"

#include "check_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace bench::gpu {

void check_cuda(cudaError_t error, const char *what, std::source_location where) {
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error) + " (" +
                                 where.file_name() + ":" + std::to_string(where.line()) + ")");
}

Buffer::Buffer(std::size_t bytes, Memory memory) : bytes_(bytes), memory_(memory) {
    void *address = nullptr;
    check_cuda(memory == Memory::device ? cudaMalloc(&address, bytes)
                                        : cudaMallocHost(&address, bytes),
               "allocating a buffer");
    data_ = static_cast<char *>(address);
}

Buffer::~Buffer() {
    (void)(memory_ == Memory::device ? cudaFree(data_) : cudaFreeHost(data_));
}

namespace {

std::int64_t lowest(const std::vector<Segment> &segments) {
    std::int64_t low = 0;
    for (const Segment &s : segments) low = std::min<std::int64_t>(low, s.displacement);
    return low;
}

std::size_t footprint(const std::vector<Segment> &segments) {
    std::int64_t high = 0;
    for (const Segment &s : segments) high = std::max<std::int64_t>(high, s.displacement + s.bytes);
    return static_cast<std::size_t>(high - lowest(segments));
}

std::size_t packed_bytes(const std::vector<Segment> &segments) {
    std::size_t bytes = 0;
    for (const Segment &s : segments) bytes += static_cast<std::size_t>(s.bytes);
    return bytes;
}

void run(const Contender &contender) {
    // UCD's own streams are ordered after nothing: buffers are to be ready.
    check_cuda(cudaDeviceSynchronize(), "filling");
    contender.work(1);
    check_cuda(cudaDeviceSynchronize(), contender.name.c_str());
}

} // namespace

Bench::Bench(const Recipe &type, Memory packed) : Bench(segments_of(type), packed) {}

Bench::Bench(std::vector<Segment> segments, Memory packed)
    : segments_(std::move(segments)), low_(lowest(segments_)),
      laid_out_(footprint(segments_), Memory::device), packed_(packed_bytes(segments_), packed),
      spare_(packed_.bytes(), Memory::device) {
    for (const Segment &s : segments_)
        for (std::int64_t i = 0; i < s.bytes; ++i)
            expected_.push_back(
                static_cast<char>(content(static_cast<std::uint64_t>(s.displacement - low_ + i))));
}

void Bench::check_packing(const Contender &contender) {
    fill(laid_out_.data(), laid_out_.bytes());
    check_cuda(cudaMemset(packed_.data(), blank, packed_.bytes()), "clearing");
    run(contender);
    check_cuda(cudaMemcpy(spare_.data(), expected_.data(), bytes(), cudaMemcpyDefault), "checking");
    if (count_different(packed_.data(), spare_.data(), bytes()) != 0)
        throw std::runtime_error(contender.name + " does not pack what it should");
}

void Bench::check_unpacking(const Contender &contender) {
    // The bytes that packing gives go to the places that they were from, and nothing else changes.
    check_cuda(cudaMemcpy(packed_.data(), expected_.data(), bytes(), cudaMemcpyDefault),
               "checking");
    check_cuda(cudaMemset(laid_out_.data(), blank, laid_out_.bytes()), "clearing");
    run(contender);
    if (count_filled(laid_out_.data(), laid_out_.bytes()) != bytes())
        throw std::runtime_error(contender.name + " unpacks too much, or not enough");
    Buffer whole(laid_out_.bytes(), Memory::device);
    fill(whole.data(), whole.bytes());
    if (count_different(laid_out_.data(), whole.data(), whole.bytes()) != whole.bytes() - bytes())
        throw std::runtime_error(contender.name + " does not unpack what it should");
}

} // namespace bench::gpu
