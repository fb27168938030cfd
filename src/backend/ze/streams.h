// Streams and events, over immediate command lists.
#pragma once

#include "runtime_calls.h"
#include "signals.h"

#include <mutex>

namespace ucd::ze {

// A point in a stream; complete if it was never recorded.
class StreamPoint {
public:
    StreamPoint() = default;
    ~StreamPoint() { forget(); }
    StreamPoint(const StreamPoint &) = delete;
    StreamPoint &operator=(const StreamPoint &) = delete;

    void forget() {
        if (signal_ != nullptr) Signals::instance().retire(signal_);
        signal_ = nullptr;
    }
    ze_result_t query() const;
    ze_result_t synchronize() const;

private:
    friend class Stream;
    Signal *signal_ = nullptr;
};

// Commands of a list may run at once unless something orders them. So every command is followed by
// a barrier, and a caller's list gets one in front, too.
class Stream {
public:
    explicit Stream(ze_command_list_handle_t list) : list_(list) {}
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    ze_command_list_handle_t list() const { return list_; }

    // append(list) puts one command into the list, which one thread may use at a time.
    template <class Append>
    ze_result_t add(Append append) {
        const std::lock_guard lock(mutex_);
        const ze_result_t result = append(list_);
        if (result != ZE_RESULT_SUCCESS) return result;
        told_ = false;
        return barrier();
    }
    ze_result_t add_barrier();
    ze_result_t record(StreamPoint &event);
    ze_result_t wait_for(StreamPoint &event);
    // Whether everything so far is complete.
    ze_result_t query();
    ze_result_t synchronize();

private:
    ze_result_t barrier();
    ze_result_t record_end();
    ze_result_t record_locked(StreamPoint &event);

    const ze_command_list_handle_t list_;
    std::mutex mutex_;
    StreamPoint end_;  // of everything so far, if told_
    bool told_ = true; // nothing has come since
};

} // namespace ucd::ze
