// Work that libucd does for as long as a device takes for it.
#pragma once

#include "common/failure.h"

#include <vector>

struct ucd_ucx_pipeline;

namespace ucd_ucx {

class DeviceWork {
public:
    virtual void moved(ucd_ucx_pipeline &pipeline, Status status) = 0;
    ucd_request_t moving = UCD_REQUEST__NULL;

protected:
    ~DeviceWork() = default;
};

// Work that is under way. It has no event for its end, so progress polls it.
class DeviceQueue {
public:
    void await(DeviceWork &work) { under_way_.push_back(&work); }

    // Tells those that are done. Whether there were any.
    bool poll(ucd_ucx_pipeline &pipeline) {
        bool any = false;
        for (std::size_t i = 0; i < under_way_.size();) {
            DeviceWork &work = *under_way_[i];
            int done = 0;
            const Status status = ucd_ok(ucd_test(&work.moving, &done));
            if (done == 0) {
                ++i;
                continue;
            }
            under_way_[i] = under_way_.back();
            under_way_.pop_back();
            work.moved(pipeline, status);
            any = true;
        }
        return any;
    }

private:
    std::vector<DeviceWork *> under_way_;
};

} // namespace ucd_ucx
