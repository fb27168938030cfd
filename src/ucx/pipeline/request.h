// The common base of all transfers.
#pragma once

#include "common/failure.h"
#include "datatype/options.h"
#include "datatype/typed_buffer.h"

#include <atomic>
#include <chrono>
#include <ucd_ucx.h>

// The caller holds the pipeline's lock, except where a comment says otherwise.
struct ucd_ucx_request {
    virtual ~ucd_ucx_request() = default;
    virtual void cancel(ucd_ucx_pipeline &pipeline) = 0;
    // Sets the message of the failure for ucd_ucx_last_error in this thread. Does not need the
    // lock.
    virtual void explain() const;

    // Sets the options of the transfer. `info` becomes the info to use during this call.
    ucd_ucx::Status set(const ucd_ucx::TransferOptions &defaults, const ucd_ucx_param_t *param,
                        ucd_info_t &info);

    // Called once, when the transfer is complete. Does not need the lock.
    void complete(const ucd_ucx_result_t &result) {
        result_ = result;
        complete_.store(true, std::memory_order_release);
    }
    bool is_complete() const { return complete_.load(std::memory_order_acquire); }
    const ucd_ucx_result_t &result() const { return result_; }

    // The user and the pipeline each release the request once; the second release deletes it.
    void call_back_and_let_go();
    void let_go();

    bool has_time_limit() const { return options_.timeout.count() > 0; }
    // For the time limit: data of the transfer has moved.
    void note_progress() {
        if (options_.timeout.count() > 0) moved_at_ = std::chrono::steady_clock::now();
    }
    bool has_timed_out() const {
        return options_.timeout.count() > 0 && !is_complete() &&
               std::chrono::steady_clock::now() - moved_at_ >= options_.timeout;
    }

    bool handed_out = false;         // or about to be
    ucd_ucx_request *next = nullptr; // link of a queue

protected:
    ucd_ucx::TransferOptions options_;

private:
    std::chrono::steady_clock::time_point moved_at_;
    ucd_ucx_callback_t callback_ = nullptr;
    void *user_data_ = nullptr;
    std::atomic<bool> complete_ = false;
    std::atomic<int> holders_ = 2;
    ucd_ucx_result_t result_ = {};
};
