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
        if (signal_ != nullptr) signal_->home->retire(signal_);
        signal_ = nullptr;
    }
    ze_result_t query() const;
    ze_result_t synchronize() const;

private:
    friend class Stream;
    Signal *signal_ = nullptr;
};

// Commands of a list may run at once unless something orders them. So every command is followed by
// a barrier, and a caller's list gets one in front, too. Copies for copy engines go to a list of
// their own, where the device has queues that only copy; the two lists wait for each other where
// the stream changes from one to the other.
class Stream {
public:
    // The caller's list, or the library's.
    enum class Kind { callers, own };
    Stream(ze_command_list_handle_t list, int device, Kind kind);
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    // append(list) puts one command into the list, which one thread may use at a time.
    template <class Append>
    ze_result_t add(Append append) {
        return add_to(Side::compute, append);
    }
    // A copy for the device's copy engines.
    template <class Append>
    ze_result_t add_copy(Append append) {
        return add_to(copies_apart_ ? Side::copy : Side::compute, append);
    }
    ze_result_t add_barrier();
    ze_result_t record(StreamPoint &event);
    ze_result_t wait_for(StreamPoint &event);
    // Whether everything so far is complete.
    ze_result_t query();
    ze_result_t synchronize();
    // Destroys the lists, which are the library's.
    ze_result_t destroy();

private:
    enum class Side { compute, copy };

    template <class Append>
    ze_result_t add_to(Side side, Append append) {
        const std::lock_guard lock(mutex_);
        if (side != side_)
            if (const ze_result_t result = change_to(side); result != ZE_RESULT_SUCCESS)
                return result;
        const ze_result_t result = append(list());
        if (result != ZE_RESULT_SUCCESS) return result;
        unused_ = told_ = false;
        return barrier();
    }

    // With the lock held.
    ze_command_list_handle_t list() const { return side_ == Side::copy ? copies_ : computes_; }
    ze_result_t change_to(Side side);
    ze_result_t barrier();
    ze_result_t record_end();
    ze_result_t record_locked(StreamPoint &event);
    ze_result_t wait_locked(StreamPoint &event);

    const ze_command_list_handle_t computes_;
    ze_command_list_handle_t copies_ = nullptr; // made at the first such copy
    const int device_;
    const bool copies_apart_;
    std::mutex mutex_;
    Side side_ = Side::compute; // where the last commands are
    StreamPoint changed_;       // of the other side, when that was left
    StreamPoint end_;           // of everything so far, if told_
    bool told_ = true;          // nothing has come since
    bool unused_ = true;        // nothing has come ever
};

} // namespace ucd::ze
