// A layout prepared for the devices of a vendor: the plan of plan/layout_plan.h, and its lists on
// devices. Nothing else in it belongs to one device.
#pragma once

#include "backend.h"
#include "box_index.h"
#include "plan/layout_plan.h"
#include "runtime/device_lists.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

namespace ucd::UCD_GPU {

using namespace gpu;

// What most plans never need; made when it is first needed.
template <class T>
class Lazy {
public:
    // make() gives what a T is made of.
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
    // Null if it has not been needed.
    T *peek() const { return made_.load(std::memory_order_acquire); }

private:
    std::mutex mutex_;
    std::atomic<T *> made_{nullptr};
    std::unique_ptr<T> owner_;
};

// A layout for the kernels that walk any.
struct Interpreter {
    explicit Interpreter(InterpreterLists made) : host(std::move(made)), lists(host.bytes) {}
    const InterpreterLists host;
    DeviceLists lists;
};

class GpuPlan final : public KernelPlan {
public:
    GpuPlan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes);

    std::string describe() const override;
    std::size_t memory() const override;
    bool is_needed_by(const Move &move) const override;

    // For what the shape cannot do.
    Interpreter &interpreter() const {
        return interpreter_.get([this] { return host.interpreter_lists(); });
    }
    // The elements of the packed stream, which are always the same for a plan.
    Interpreter &interpreter_of(const Elements &elements) const {
        return elements_interpreter_.get(
            [&] { return lists_of_elements(elements.runs, elements.extent); });
    }

    // For copy engines.
    const BoxIndex &boxes() const {
        return boxes_.get([this]() -> const Layout & { return host.layout; });
    }

    // Whether some range of so many repetitions may be too far from its start for a nest, whatever
    // the alignment.
    bool may_need_interpreter(uint64_t count) const;

    // Whether a launch on the device needs no more than what is there.
    bool is_prepared(int device, Op op = Op::replace) const {
        return (prepared_[static_cast<unsigned>(op)].load(std::memory_order_acquire) >> device &
                1) != 0;
    }
    void set_prepared(int device, Op op = Op::replace) const {
        prepared_[static_cast<unsigned>(op)].fetch_or(uint32_t{1} << device,
                                                      std::memory_order_acq_rel);
    }

    const LayoutPlan host;
    const std::unique_ptr<DeviceLists> lists;          // of the shape; null: none
    const std::unique_ptr<DeviceLists> aligned_stores; // null: none

    // A hint of the last table of a batch that was built: which of its shapes is this plan's, by
    // the word's width.
    mutable std::array<std::atomic<uint64_t>, 5> batch_shape{};

private:
    // By op, a bit per device.
    mutable std::array<std::atomic<uint32_t>, static_cast<unsigned>(Op::count_)> prepared_{};
    mutable Lazy<Interpreter> interpreter_, elements_interpreter_;
    mutable Lazy<BoxIndex> boxes_;
};

} // namespace ucd::UCD_GPU
