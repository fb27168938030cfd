// Work that a device does through libucd, which may still be running when the call returns.
#pragma once

#include "common/failure.h"
#include "common/queue.h"

#include <algorithm>
#include <cstddef>

namespace ucd_ucx {

class DeviceWork {
public:
    virtual void moved(Status status) = 0;
    ucd_request_t moving = UCD_REQUEST__NULL;
    DeviceWork *next = nullptr; // link of the queue

protected:
    ~DeviceWork() = default;
};

// Work in progress. UCX has no event for its end, so progress polls it. The queue never allocates,
// since work that the device has begun must not get lost.
class DeviceQueue {
public:
    void await(DeviceWork &work) {
        ++works_;
        moving_.push(work);
    }

    // Calls `moved` for work that is done, of as many as a call of progress may ask for. Returns
    // whether there was any.
    bool poll() {
        bool any = false;
        for (std::size_t left = std::min(works_, max_polled); left > 0; --left) {
            DeviceWork &work = moving_.pop();
            --works_;
            int done = 0;
            const Status status = ucd_ok(ucd_test(&work.moving, &done));
            if (done != 0)
                work.moved(status); // may add more work
            else
                await(work); // behind the others
            any |= done != 0;
        }
        return any;
    }

private:
    static constexpr std::size_t max_polled = 1024;
    std::size_t works_ = 0;
    Queue<DeviceWork> moving_;
};

} // namespace ucd_ucx
