// Work that goes on in another stream while something is measured.
#pragma once

#include "cuda_buffers.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>

namespace bench::gpu::busy {

enum class LoadWork { spin, bursts, kernel_copies, host_to_device, device_to_host };

struct LoadKind {
    const char *name;
    LoadWork work;
    double share = 1; // of the processors, for spin
    // Pieces of work that are started with another one still under way, so that the stream never
    // runs dry, up to a moment in which it has; 0: there is no such moment.
    unsigned in_a_row = 0;
    bool computes() const { return work == LoadWork::spin || work == LoadWork::bursts; }
};

// Goes on from construction to destruction.
class Load {
public:
    explicit Load(const LoadKind &kind);
    ~Load();
    Load(const Load &) = delete;
    Load &operator=(const Load &) = delete;

    // Operations, or bytes copied, since it began. Throws if the load has failed.
    std::uint64_t done() const;

private:
    void go_on() noexcept;
    void keep_going();
    void start_one();

    LoadKind kind_;
    int device_; // the one that is current where this is made
    unsigned processors_, spinning_;
    std::uint64_t each_ = 0; // done by one piece; 0: the device counts itself
    // The flag that ends spinning, then a count for each of its blocks. On the device: processors
    // that look into host memory all the time slow the copies between there and the device, by an
    // order of magnitude.
    Buffer control_;
    std::unique_ptr<Buffer> from_, to_;
    cudaStream_t stream_ = nullptr, control_stream_ = nullptr;
    cudaEvent_t ends_[2] = {};
    std::atomic<bool> stop_ = false, failed_ = false;
    std::atomic<std::uint64_t> counted_ = 0;
    std::exception_ptr failure_;
    std::thread thread_;
};

} // namespace bench::gpu::busy
