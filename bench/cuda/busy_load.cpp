#include "busy_load.hpp"

#include "busy_kernels.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <vector>

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

} // namespace

Load::Load(const LoadKind &kind)
    : kind_(kind), device_(current_device()), processors_(processors(device_)),
      spinning_(std::max(1u, static_cast<unsigned>(processors_ * kind.share))),
      control_(count_offset + processors_ * sizeof(std::uint64_t), Memory::device) {
    check_cuda(cudaMemset(control_.data(), 0, control_.bytes()), "setting the control");
    if (kind.work == LoadWork::bursts) each_ = operations_per_burst(processors_);
    if (!kind.computes()) {
        each_ = copied_bytes;
        from_ = std::make_unique<Buffer>(
            copied_bytes, kind.work == LoadWork::host_to_device ? Memory::pinned : Memory::device);
        to_ = std::make_unique<Buffer>(
            copied_bytes, kind.work == LoadWork::device_to_host ? Memory::pinned : Memory::device);
    }
    // Streams that do not wait for the null stream, where the kernels by hand are.
    for (cudaStream_t *stream : {&stream_, &control_stream_})
        check_cuda(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "making a stream");
    for (cudaEvent_t &end : ends_)
        check_cuda(cudaEventCreateWithFlags(&end, cudaEventDisableTiming | cudaEventBlockingSync),
                   "making an event");
    thread_ = std::thread([this] { go_on(); });
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!failed_ && done() == 0 && std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Load::~Load() {
    stop_ = true;
    const std::uint32_t over = 1;
    (void)cudaMemcpyAsync(control_.data(), &over, sizeof over, cudaMemcpyDefault, control_stream_);
    thread_.join();
    for (const cudaEvent_t end : ends_) (void)cudaEventDestroy(end);
    for (const cudaStream_t stream : {stream_, control_stream_}) (void)cudaStreamDestroy(stream);
}

std::uint64_t Load::done() const {
    if (failed_) std::rethrow_exception(failure_);
    if (kind_.work != LoadWork::spin) return counted_;
    std::vector<std::uint64_t> rounds(spinning_);
    check_cuda(cudaMemcpyAsync(rounds.data(), control_.data() + count_offset,
                               rounds.size() * sizeof rounds[0], cudaMemcpyDefault,
                               control_stream_),
               "reading what the load has done");
    check_cuda(cudaStreamSynchronize(control_stream_), "reading what the load has done");
    return std::accumulate(rounds.begin(), rounds.end(), std::uint64_t{0}) * operations_per_round;
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
        const bool last = kind_.in_a_row > 0 && (i + 1) % kind_.in_a_row == 0;
        if (last) check_cuda(cudaEventSynchronize(ends_[i % 2]), "waiting for the load");
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
