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

// Commands of a list may run concurrently unless something orders them. Therefore every command is
// followed by a barrier, and a caller's list gets one in front, too. If the device has queues that
// only copy, copies for copy engines go to a list of their own; the two lists wait for each other
// where the stream changes from one to the other.
class Stream {
public:
    // Whether the list belongs to the caller or to the library.
    enum class Kind { callers, own };
    Stream(ze_command_list_handle_t list, int device, Kind kind);
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    // append(list) appends one command to the list. The lock is held, because only one thread at a
    // time may use a list.
    template <class Append>
    ze_result_t add(Append append) {
        return add_to(QueueKind::compute, append);
    }
    // A copy for the device's copy engines.
    template <class Append>
    ze_result_t add_copy(Append append) {
        return add_to(copies_apart_ ? QueueKind::copy : QueueKind::compute, append);
    }
    ze_result_t add_barrier();
    ze_result_t record(StreamPoint &event);
    ze_result_t wait_for(StreamPoint &event);
    // Whether all commands so far are complete.
    ze_result_t query();
    ze_result_t synchronize();
    // Destroys the lists; only for lists of the library.
    ze_result_t destroy();

private:
    enum class QueueKind { compute, copy };

    template <class Append>
    ze_result_t add_to(QueueKind kind, Append append) {
        const std::lock_guard lock(mutex_);
        if (kind != kind_)
            if (const ze_result_t result = change_to(kind); result != ZE_RESULT_SUCCESS)
                return result;
        const ze_result_t result = append(list());
        if (result != ZE_RESULT_SUCCESS) return result;
        unused_ = told_ = false;
        return barrier();
    }

    // These are called with the lock held.
    ze_command_list_handle_t list() const { return kind_ == QueueKind::copy ? copies_ : computes_; }
    ze_result_t change_to(QueueKind kind);
    ze_result_t barrier();
    ze_result_t record_end();
    ze_result_t record_locked(StreamPoint &event);
    ze_result_t wait_locked(StreamPoint &event);

    const ze_command_list_handle_t computes_;
    ze_command_list_handle_t copies_ = nullptr; // made at the first copy for copy engines
    const int device_;
    const bool copies_apart_;
    std::mutex mutex_;
    QueueKind kind_ = QueueKind::compute; // the kind of the last command
    StreamPoint changed_;                 // the end of the other kind when it was left
    StreamPoint end_;                     // the end of all commands, if told_
    bool told_ = true;                    // end_ covers all commands
    bool unused_ = true;                  // no command has been appended yet
};

} // namespace ucd::ze
