// A worker that takes part in one-sided operations: a pipeline of its own, and what it carries.
#pragma once

#include "queue.h"
#include "rma_origin.h"
#include "rma_target.h"
#include "worker_lock.h"

#include <atomic>
#include <mutex>
#include <vector>

// Functions are called with the lock, but for those that say otherwise. The pipeline's lock is
// taken within this one, and none of the user's functions is called under it but those for memory.
struct ucd_ucx_rma {
    explicit ucd_ucx_rma(uint64_t types_limit);
    ucd_ucx::Status open(ucp_worker_h worker, const ucd_ucx_rma_params_t &params, ucd_info_t info);
    ucd_ucx::Status close(); // without the lock

    unsigned progress(); // without the lock

    // Without the lock: may be called where UCX calls back.
    ucd_ucx::Status lose(ucp_ep_h ep, ucs_status_t status);
    void handle_losses();
    // Whatever came to use an endpoint before it was lost has a smaller number.
    uint64_t now() { return clock_; }

    ucd_ucx::Status send(ucp_ep_h ep, std::string_view header, const ucd_ucx::Data &data,
                         const ucd_ucx_param_t *param, uint64_t granule,
                         ucd_ucx_request_t *request);
    void drop(ucd_ucx_data_t data);
    void finish(ucd_ucx_request &request, const ucd_ucx_result_t &result) {
        finished_.push(request);
        request.complete(result);
    }

    ucd_ucx::WorkerLock lock;
    ucd_ucx_pipeline_t pipeline = UCD_UCX_PIPELINE__NULL;
    ucd_ucx::rma::Origin origin;
    ucd_ucx::rma::Target target;

private:
    struct Loss {
        ucp_ep_h ep;
        ucs_status_t status;
        uint64_t before;
    };
    static void on_message(void *rma, unsigned, const void *header, size_t header_length,
                           ucd_ucx_data_t data, uint64_t bytes, ucp_ep_h reply_ep);
    void take(const ucd_ucx::rma::Delivery &delivery);

    ucd_ucx::Queue<ucd_ucx_request> finished_;
    std::mutex losses_lock_; // nothing else is locked under it
    std::vector<Loss> losses_;
    std::atomic<uint64_t> clock_ = 0; // counts losses
    uint64_t losses_handled_ = 0;
};
