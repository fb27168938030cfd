// A layout prepared for a vendor's devices: the vendor-independent plan of plan/layout_plan.h, and
// its lists on devices. Apart from the lists, nothing depends on the device.
#pragma once

#include "box_index.h"
#include "implement.h"
#include "plan/layout_plan.h"
#include "runtime/device_lists.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

namespace ucd::UCD_GPU {

using namespace gpu;

// A part of a plan that is rarely needed, and made when it is first needed.
template <class T>
class Lazy {
public:
    // make() returns the argument for T's constructor.
    template <class Make>
    T &get(Make make) {
        if (T *made = peek()) return *made;
        const std::lock_guard lock(mutex_);
        if (owner_ == nullptr) {
            owner_ = std::make_unique<T>(make());
            made_.store(owner_.get(), std::memory_order_release);
        }
        return *owner_;
    }
    // Null if it was not needed yet.
    T *peek() const { return made_.load(std::memory_order_acquire); }

private:
    std::mutex mutex_;
    std::atomic<T *> made_{nullptr};
    std::unique_ptr<T> owner_;
};

// A layout in the form that the interpreter kernels read.
struct Interpreter {
    explicit Interpreter(InterpreterLists made) : host(std::move(made)), lists(host.bytes) {}
    const InterpreterLists host;
    DeviceLists lists;
};

class GpuPlan final : public KernelPlanOf<GpuPlan> {
public:
    GpuPlan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes);

    std::string description() const;
    std::size_t memory() const;
    bool is_needed_by(const Move &move) const;

    // For moves for which the shape cannot be used.
    Interpreter &interpreter() const {
        return interpreter_.get([this] { return host.interpreter_lists(); });
    }
    // Interprets the elements of the packed stream. `elements` must be the same in each call.
    Interpreter &interpreter_of(const Elements &elements) const {
        return elements_interpreter_.get(
            [&] { return lists_of_elements(elements.runs, elements.extent); });
    }

    // For copy engines:
    const BoxIndex &boxes() const {
        return boxes_.get([this]() -> const Layout & { return host.layout; });
    }

    // Whether for this count some range could lie too far from its start for a nest, with the worst
    // alignment.
    bool may_need_interpreter(uint64_t count) const;

    // Whether everything that a launch on the device needs has been loaded and uploaded.
    bool is_prepared(int device, Op op = Op::replace) const {
        return (prepared_[static_cast<unsigned>(op)].load(std::memory_order_acquire) >> device &
                1) != 0;
    }
    void set_prepared(int device, Op op = Op::replace) const {
        prepared_[static_cast<unsigned>(op)].fetch_or(uint32_t{1} << device,
                                                      std::memory_order_acq_rel);
    }

    const LayoutPlan host;
    const std::unique_ptr<DeviceLists> lists;          // of the shape; null: it has none
    const std::unique_ptr<DeviceLists> aligned_stores; // null: it has none

    // A hint about the batch table that was built last: the index of this plan's shape in it, for
    // each word width.
    mutable std::array<std::atomic<uint64_t>, 5> batch_shape{};

private:
    // By op; one bit per device.
    mutable std::array<std::atomic<uint32_t>, static_cast<unsigned>(Op::count_)> prepared_{};
    mutable Lazy<Interpreter> interpreter_, elements_interpreter_;
    mutable Lazy<BoxIndex> boxes_;
};

inline const GpuPlan &plan_of(const Side &side) {
    return static_cast<const GpuPlan &>(*side.plan);
}

} // namespace ucd::UCD_GPU
