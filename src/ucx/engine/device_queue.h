// Work that a device does through libucd, which may still be running when the call returns.
#pragma once

#include "common/failure.h"

namespace ucd_ucx {

class DeviceWork {
public:
    virtual void moved(Status status) = 0;
    ucd_request_t moving = UCD_REQUEST__NULL;
    DeviceWork *next_moving = nullptr; // link of the DeviceQueue

protected:
    ~DeviceWork() = default;
};

// Work in progress. UCX has no event for its end, so progress polls it. The queue never allocates,
// since work that the device has begun must not get lost.
class DeviceQueue {
public:
    void await(DeviceWork &work) {
        work.next_moving = nullptr;
        (last_ == nullptr ? first_ : last_->next_moving) = &work;
        last_ = &work;
    }

    // Calls `moved` for work that is done. Returns whether there was any.
    bool poll() {
        bool any = false;
        DeviceWork *before = nullptr; // the last element that is not done
        while (DeviceWork *work = before == nullptr ? first_ : before->next_moving) {
            int done = 0;
            const Status status = ucd_ok(ucd_test(&work->moving, &done));
            if (done == 0) {
                before = work;
                continue;
            }
            (before == nullptr ? first_ : before->next_moving) = work->next_moving;
            if (last_ == work) last_ = before;
            work->moved(status); // may add more work
            any = true;
        }
        return any;
    }

private:
    DeviceWork *first_ = nullptr;
    DeviceWork *last_ = nullptr;
};

} // namespace ucd_ucx
