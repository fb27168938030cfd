// Work that libucd does for as long as a device takes for it.
#pragma once

#include "common/failure.h"

struct ucd_ucx_pipeline;

namespace ucd_ucx {

class DeviceWork {
public:
    virtual void moved(ucd_ucx_pipeline &pipeline, Status status) = 0;
    ucd_request_t moving = UCD_REQUEST__NULL;
    DeviceWork *next_moving = nullptr; // in a DeviceQueue

protected:
    ~DeviceWork() = default;
};

// Work that is under way. It has no event for its end, so progress polls it. Takes no memory: what
// the device does already must not be forgotten.
class DeviceQueue {
public:
    void await(DeviceWork &work) {
        work.next_moving = nullptr;
        (last_ == nullptr ? first_ : last_->next_moving) = &work;
        last_ = &work;
    }

    // Tells those that are done. Whether there were any.
    bool poll(ucd_ucx_pipeline &pipeline) {
        bool any = false;
        DeviceWork *before = nullptr; // that is not done
        while (DeviceWork *work = before == nullptr ? first_ : before->next_moving) {
            int done = 0;
            const Status status = ucd_ok(ucd_test(&work->moving, &done));
            if (done == 0) {
                before = work;
                continue;
            }
            (before == nullptr ? first_ : before->next_moving) = work->next_moving;
            if (last_ == work) last_ = before;
            work->moved(pipeline, status); // which may add some
            any = true;
        }
        return any;
    }

private:
    DeviceWork *first_ = nullptr;
    DeviceWork *last_ = nullptr;
};

} // namespace ucd_ucx
