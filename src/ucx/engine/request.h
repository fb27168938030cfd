// What a user has started: a transfer, a one-sided operation or a flush.
#pragma once

#include "common/failure.h"
#include "datatype/options.h"

#include <atomic>
#include <chrono>
#include <ucd_ucx.h>

namespace ucd_ucx {

// What ucd_ucx_am_set_handler has set.
struct UserHandler {
    ucd_ucx_am_callback_t callback = nullptr;
    void *arg = nullptr;
};

// Something that a callback of the user has to be told. Collected while the engine's lock is held,
// and told without it.
class Notice {
public:
    virtual void tell() = 0;
    // Called instead, if the object ends before the user is told.
    virtual void let_go() = 0;
    Notice *next = nullptr; // link of a queue

protected:
    ~Notice() = default;
};

// How a transfer or an operation ended: what a ucd_ucx_result_t says.
struct Result {
    ucs_status_t status = UCS_OK;
    int ucd = UCD_SUCCESS;
    uint64_t bytes = 0;
    ucp_tag_t tag = 0;
};

} // namespace ucd_ucx

// The caller holds the engine's lock, except where a comment says otherwise.
struct ucd_ucx_request : ucd_ucx::Notice {
    virtual ~ucd_ucx_request() = default;
    virtual void cancel() = 0;
    // Sets the message of the failure for ucd_ucx_last_error in this thread. Does not need the
    // lock.
    virtual void explain() const;

    // Sets the options. `info` becomes the info to use during this call.
    ucd_ucx::Status set(const ucd_ucx::TransferOptions &defaults, const ucd_ucx_param_t *param,
                        ucd_info_t &info);

    // Called once. Does not need the lock.
    void complete(const ucd_ucx::Result &result) {
        result_ = result;
        complete_.store(true, std::memory_order_release);
    }
    bool is_complete() const { return complete_.load(std::memory_order_acquire); }
    const ucd_ucx::Result &result() const { return result_; }

    // The user, the engine, and whoever holds it beside them, each release the request once; the
    // last release deletes it.
    void let_go() final;
    void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
    // Calls the user's callback, and releases the request.
    void tell() final;

    bool has_time_limit() const { return options_.timeout.count() > 0; }
    // For the time limit: data of the transfer has moved.
    void note_progress() {
        if (options_.timeout.count() > 0) moved_at_ = std::chrono::steady_clock::now();
    }
    bool has_timed_out() const {
        return options_.timeout.count() > 0 && !is_complete() &&
               std::chrono::steady_clock::now() - moved_at_ >= options_.timeout;
    }

    bool handed_out = false; // or about to be

protected:
    ucd_ucx::TransferOptions options_;

private:
    std::chrono::steady_clock::time_point moved_at_;
    ucd_ucx_callback_t callback_ = nullptr;
    void *user_data_ = nullptr;
    std::atomic<bool> complete_ = false;
    std::atomic<int> holders_ = 2;
    ucd_ucx::Result result_ = {};
};
