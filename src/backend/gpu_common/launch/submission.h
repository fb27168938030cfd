// Where a launch goes, and what it needs until it is done.
#pragma once

#include "launch/batch_tables.h"
#include "launch/launch_steps.h"
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
    std::vector<std::shared_ptr<const void>> tables; // of prepared launches
    // While moves are made: if that fails, there is nothing in the stream to be waited for.
    bool nothing_started = false;
};

// The device is current.
struct Submission {
    Device &device;
    gpuStream_t stream;
    LaunchMode mode;
    LaunchNeeds &needs;
    // Set while threads of this call take lists into use, for whom the device is not current: a
    // vendor's streams, and the needs, are for one thread at a time.
    std::mutex *shared = nullptr;
    // Set while a launch is prepared: gets the steps, and nothing starts.
    LaunchSteps *prepared = nullptr;

    // Every launch takes lists into use by this function: the work that comes next in the stream
    // finds them at `address`, until the needs go.
    Status use(DeviceLists &lists, uint64_t &address) const {
        if (shared == nullptr) return use_alone(lists, address);
        const std::lock_guard lock(*shared);
        // Only here: a thread's first call of a driver takes longer than most of its work.
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
