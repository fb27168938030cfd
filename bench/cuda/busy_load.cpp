#include "busy_load.hpp"

#include "busy_kernels.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace bench::gpu::busy {
namespace {

constexpr std::size_t copied_bytes = std::size_t{64} << 20, count_offset = 64;

int current_device() {
    int device = 0;
    check_cuda(cudaGetDevice(&device), "asking for the device");
    return device;
}

unsigned processors(int device) {
    int count = 0;
    check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
               "asking for the processors");
    return static_cast<unsigned>(count);
}

volatile std::uint32_t *flag_of(const Buffer &control) {
    return reinterpret_cast<volatile std::uint32_t *>(control.data());
}
volatile std::uint64_t *counts_of(const Buffer &control) {
    return reinterpret_cast<volatile std::uint64_t *>(control.data() + count_offset);
}

} // namespace

Load::Load(const LoadKind &kind)
    : kind_(kind), device_(current_device()), processors_(processors(device_)),
      spinning_(std::max(1u, static_cast<unsigned>(processors_ * kind.share))),
      control_(count_offset + processors_ * sizeof(std::uint64_t), Memory::pinned) {
    std::fill_n(control_.data(), control_.bytes(), '\0');
    if (kind.work == LoadWork::bursts) each_ = operations_per_burst(processors_);
    if (!kind.computes()) {
        each_ = copied_bytes;
        from_ = std::make_unique<Buffer>(
            copied_bytes, kind.work == LoadWork::host_to_device ? Memory::pinned : Memory::device);
        to_ = std::make_unique<Buffer>(
            copied_bytes, kind.work == LoadWork::device_to_host ? Memory::pinned : Memory::device);
    }
    // Streams that do not wait for the null stream, where the kernels by hand are.
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    for (cudaEvent_t &end : ends_)
        check_cuda(cudaEventCreateWithFlags(&end, cudaEventDisableTiming | cudaEventBlockingSync),
                   "making an event");
    thread_ = std::thread([this] { go_on(); });
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!failed_ &&
           (kind.work == LoadWork::spin ? *counts_of(control_) : counted_.load()) == 0 &&
           std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Load::~Load() {
    stop_ = true;
    *flag_of(control_) = 1;
    thread_.join();
    for (const cudaEvent_t end : ends_) (void)cudaEventDestroy(end);
    (void)cudaStreamDestroy(stream_);
}

std::uint64_t Load::done() const {
    if (failed_) std::rethrow_exception(failure_);
    if (kind_.work != LoadWork::spin) return counted_;
    std::uint64_t rounds = 0;
    for (unsigned i = 0; i < spinning_; ++i) rounds += counts_of(control_)[i];
    return rounds * operations_per_round;
}

void Load::go_on() noexcept {
    try {
        check_cuda(cudaSetDevice(device_), "choosing the device");
        keep_going();
    } catch (...) {
        failure_ = std::current_exception();
        failed_ = true;
    }
    (void)cudaStreamSynchronize(stream_);
}

void Load::keep_going() {
    for (unsigned i = 0; !stop_; ++i) {
        start_one();
        check_cuda(cudaEventRecord(ends_[i % 2], stream_), "recording an event");
        if (i == 0) continue;
        check_cuda(cudaEventSynchronize(ends_[(i + 1) % 2]), "waiting for the load");
        counted_ += each_;
    }
}

void Load::start_one() {
    switch (kind_.work) {
    case LoadWork::spin:
        start_spinning(stream_, spinning_, reinterpret_cast<const std::uint32_t *>(control_.data()),
                       reinterpret_cast<std::uint64_t *>(control_.data() + count_offset));
        break;
    case LoadWork::bursts: start_burst(stream_, processors_); break;
    case LoadWork::kernel_copies:
        start_copying(stream_, to_->data(), from_->data(), copied_bytes);
        break;
    case LoadWork::host_to_device:
    case LoadWork::device_to_host:
        check_cuda(
            cudaMemcpyAsync(to_->data(), from_->data(), copied_bytes, cudaMemcpyDefault, stream_),
            "copying for the load");
        break;
    }
    check_cuda(cudaGetLastError(), "starting the load");
}

} // namespace bench::gpu::busy
