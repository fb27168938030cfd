// Where a launch goes, and what it keeps until it is done.
#pragma once

#include "launch/launch_steps.h"
#include "runtime/batch_tables.h"
#include "runtime/device_lists.h"
#include "runtime/driver.h"

#include <memory>
#include <mutex>
#include <vector>

namespace ucd::UCD_GPU {

// What a launch needs: the lists of plans, and tables.
struct LaunchNeeds {
    std::vector<ListUse> lists;
    std::vector<BatchUse> batches;
    std::vector<std::shared_ptr<const void>> tables; // for prepared launches
    // Set while moves are made: if that fails, nothing in the stream has to be waited for.
    bool nothing_started = false;
};

// The device must be current.
struct Submission {
    Device &device;
    gpuStream_t stream;
    LaunchMode mode;
    LaunchNeeds &needs;
    // Set while several threads of this call take lists into use, because streams and needs are not
    // thread-safe. The device is not current in these threads.
    std::mutex *shared = nullptr;
    // Set while a launch is prepared: receives the steps, and nothing is started.
    LaunchSteps *prepared = nullptr;

    // All launches take lists into use by this function. The next work in the stream finds them at
    // `address`, as long as the needs live.
    Status use(DeviceLists &lists, uint64_t &address) const {
        if (shared == nullptr) return use_alone(lists, address);
        const std::lock_guard lock(*shared);
        // Only here, because a thread's first call of a driver takes longer than most of the
        // thread's work.
        const driver::Current current(device.index());
        UCD_TRY(current.status);
        return use_alone(lists, address);
    }

    Status use_alone(DeviceLists &lists, uint64_t &address) const {
        ListUse use;
        UCD_TRY(ListStore::instance().use(lists, device, stream, mode, address, use));
        needs.lists.push_back(std::move(use));
        return success;
    }
};

} // namespace ucd::UCD_GPU
