// Level Zero's events, of pools, used again and again. One is set once by the device; it may be
// reset only when nothing that was told to wait for it has still to see it set.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace ucd::ze {

class Signals;

struct Signal {
    Signals *home;
    ze_event_handle_t event;
    std::vector<Signal *> readers; // set by those that have waited for it
};

// Those of a driver's context.
class Signals {
public:
    // Never destroyed: events are asked about at exit.
    static Signals &of(int device);

    // One that is not set.
    ze_result_t take(Signal *&signal);
    // No longer asked about by its owner; may still have to be set.
    void retire(Signal *signal) noexcept;

private:
    explicit Signals(ze_context_handle_t context) : context_(context) {}
    ze_result_t make();
    bool is_over(const Signal &signal) const;

    const ze_context_handle_t context_;
    std::mutex mutex_;
    ze_event_pool_handle_t pool_ = nullptr; // the newest one
    uint32_t made_ = 0;                     // of its events
    std::vector<Signal *> free_;
    std::deque<Signal *> retired_;
};

} // namespace ucd::ze
