#include "harness/gpu/load.hpp"

#include "harness/gpu/load_kernels.hpp"
#include "harness/gpu/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <numeric>
#include <thread>
#include <vector>

namespace bench::gpu {
namespace {

constexpr std::size_t copied_bytes = std::size_t{64} << 20, count_offset = 64;

int current_device() {
    int device = 0;
    check(gpuGetDevice(&device), "asking for the device");
    return device;
}

unsigned processors(int device) {
    int count = 0;
    check(gpuDeviceGetAttribute(&count, gpuDevAttrMultiProcessorCount, device),
          "asking for the processors");
    return static_cast<unsigned>(count);
}

// Goes on from construction to destruction.
class BusyDevice final : public Load {
public:
    BusyDevice(Device &device, const LoadKind &kind);
    ~BusyDevice() override;
    BusyDevice(const BusyDevice &) = delete;
    BusyDevice &operator=(const BusyDevice &) = delete;

    std::uint64_t done() const override;

private:
    void go_on() noexcept;
    void keep_going();
    void start_one();

    LoadKind kind_;
    int ordinal_; // of the device that is current where this is made
    unsigned processors_, spinning_;
    std::uint64_t each_ = 0; // done by one piece of work; 0: the device counts itself
    // The flag that ends spinning, then a count for each of its blocks. On the device: processors
    // that look into host memory all the time slow the copies between there and the device, by an
    // order of magnitude.
    Buffer control_;
    std::unique_ptr<Buffer> from_, to_;
    gpuStream_t stream_ = nullptr, control_stream_ = nullptr;
    gpuEvent_t ends_[2] = {};
    std::atomic<bool> stop_ = false, failed_ = false;
    std::atomic<std::uint64_t> counted_ = 0;
    std::exception_ptr failure_;
    std::thread thread_;
};

BusyDevice::BusyDevice(Device &device, const LoadKind &kind)
    : kind_(kind), ordinal_(current_device()), processors_(processors(ordinal_)),
      spinning_(std::max(1u, static_cast<unsigned>(processors_ * kind.share))),
      control_(device, count_offset + processors_ * sizeof(std::uint64_t)) {
    check(gpuMemset(control_.data(), 0, control_.bytes()), "setting the control");
    if (kind.work == LoadWork::bursts) each_ = operations_per_burst(processors_);
    if (!kind.computes()) {
        each_ = copied_bytes;
        const auto buffer = [&](LoadWork with_host) {
            return std::make_unique<Buffer>(device, copied_bytes,
                                            kind.work == with_host ? MemoryKind::pinned
                                                                   : MemoryKind::own);
        };
        from_ = buffer(LoadWork::host_to_device);
        to_ = buffer(LoadWork::device_to_host);
    }
    // Streams that do not wait for the null stream, where the kernels by hand are.
    for (gpuStream_t *stream : {&stream_, &control_stream_})
        check(gpuStreamCreateWithFlags(stream, gpuStreamNonBlocking), "making a stream");
    for (gpuEvent_t &end : ends_)
        check(gpuEventCreateWithFlags(&end, gpuEventDisableTiming | gpuEventBlockingSync),
              "making an event");
    thread_ = std::thread([this] { go_on(); });
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!failed_ && done() == 0 && std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

BusyDevice::~BusyDevice() {
    stop_ = true;
    const std::uint32_t over = 1;
    (void)gpuMemcpyAsync(control_.data(), &over, sizeof over, gpuMemcpyDefault, control_stream_);
    thread_.join();
    for (const gpuEvent_t end : ends_) (void)gpuEventDestroy(end);
    for (const gpuStream_t stream : {stream_, control_stream_}) (void)gpuStreamDestroy(stream);
}

std::uint64_t BusyDevice::done() const {
    if (failed_) std::rethrow_exception(failure_);
    if (kind_.work != LoadWork::spin) return counted_;
    std::vector<std::uint64_t> rounds(spinning_);
    check(gpuMemcpyAsync(rounds.data(), control_.data() + count_offset,
                         rounds.size() * sizeof rounds[0], gpuMemcpyDefault, control_stream_),
          "reading what the load has done");
    check(gpuStreamSynchronize(control_stream_), "reading what the load has done");
    return std::accumulate(rounds.begin(), rounds.end(), std::uint64_t{0}) * operations_per_round;
}

void BusyDevice::go_on() noexcept {
    try {
        check(gpuSetDevice(ordinal_), "choosing the device");
        keep_going();
    } catch (...) {
        failure_ = std::current_exception();
        failed_ = true;
    }
    (void)gpuStreamSynchronize(stream_);
}

void BusyDevice::keep_going() {
    for (unsigned i = 0; !stop_; ++i) {
        start_one();
        check(gpuEventRecord(ends_[i % 2], stream_), "recording an event");
        const bool last = kind_.in_a_row > 0 && (i + 1) % kind_.in_a_row == 0;
        if (last) check(gpuEventSynchronize(ends_[i % 2]), "waiting for the load");
        if (i == 0) continue;
        check(gpuEventSynchronize(ends_[(i + 1) % 2]), "waiting for the load");
        counted_ += each_;
    }
}

void BusyDevice::start_one() {
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
        check(gpuMemcpyAsync(to_->data(), from_->data(), copied_bytes, gpuMemcpyDefault, stream_),
              "copying for the load");
        break;
    }
    check(gpuGetLastError(), "starting the load");
}

} // namespace

std::unique_ptr<Load> start_load(Device &device, const LoadKind &kind) {
    return std::make_unique<BusyDevice>(device, kind);
}

} // namespace bench::gpu
