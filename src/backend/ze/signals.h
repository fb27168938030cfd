// A pool of Level Zero's events, which are reused. The device sets a signal once. It may be reset
// only when no command is left that waits for it.
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
    std::vector<Signal *> readers; // set by the commands that wait for it, after they have
};

// The signals of a driver's context.
class Signals {
public:
    // Never destroyed, because events are queried at exit.
    static Signals &of(int device);

    // Takes a signal that is not set.
    ze_result_t take(Signal *&signal);
    // Returns a signal that its owner no longer queries. The device may still set it.
    void retire(Signal *signal) noexcept;

private:
    explicit Signals(ze_context_handle_t context) : context_(context) {}
    ze_result_t make();
    bool is_over(const Signal &signal) const;

    const ze_context_handle_t context_;
    std::mutex mutex_;
    ze_event_pool_handle_t pool_ = nullptr; // the newest one
    uint32_t made_ = 0;                     // number of its events that have been made
    std::vector<Signal *> free_;
    std::deque<Signal *> retired_;
};

} // namespace ucd::ze
