// A worker that takes part in one-sided operations: a pipeline of its own for long data, direct
// messages for everything else, and both ends of the operations.
#pragma once

#include "common/endpoint_failures.h"
#include "common/queue.h"
#include "common/worker_lock.h"
#include "rma/direct_messages.h"
#include "rma/rma_origin.h"
#include "rma/rma_target.h"

// The caller holds the lock, except where a comment says otherwise. The pipeline's lock is taken
// while this one is held, so of the user's functions only those that allocate memory are called
// under the pipeline's lock.
struct ucd_ucx_rma final : private ucd_ucx::rma::DirectHandler {
    ucd_ucx_rma(const ucd_ucx::Ledger::Limits &budgets, uint64_t peer_operations);
    virtual ~ucd_ucx_rma();
    ucd_ucx::Status open(ucp_worker_h worker, const ucd_ucx_rma_params_t &params, ucd_info_t info);
    ucd_ucx::Status close(); // without the lock

    unsigned progress(); // without the lock

    // Does not need the lock, so callbacks of UCX may call it.
    ucd_ucx::Status on_endpoint_failed(ucp_ep_h ep, ucs_status_t status);
    void handle_endpoint_failures();
    // For callbacks: what fails for lack of memory is left to the next call of progress.
    void try_to_handle_endpoint_failures() noexcept;

    // Sends data in chunks, by an active message of the pipeline.
    ucd_ucx::Status send(ucp_ep_h ep, const std::string &header, const ucd_ucx::Data &data,
                         const ucd_ucx_param_t *param, const ucd_ucx::TransferTerms &terms,
                         ucd_ucx_request_t *request);
    // Progress polls the device until the work is done.
    void await(ucd_ucx::DeviceWork &work) { awaited_.await(work); }
    void finish(ucd_ucx_request &request, const ucd_ucx_result_t &result) {
        finished_.push(request);
        request.complete(result);
    }
    void report_unresponsive(ucp_ep_h ep);

    const std::shared_ptr<ucd_ucx::Ledger> ledger; // shared with the pipeline
    ucd_ucx::WorkerLock lock;
    ucd_ucx_pipeline_t pipeline = UCD_UCX_PIPELINE__NULL;
    ucd_ucx::EventQueue events; // of direct messages
    ucd_ucx::rma::DirectMessages direct{*this, events, *ledger};
    ucd_ucx::rma::Origin origin;
    ucd_ucx::rma::Target target;

private:
    static void on_message(void *rma, unsigned, const void *header, size_t header_length,
                           ucd_ucx_data_t data, uint64_t bytes, ucp_ep_h reply_ep);
    bool may_handle_now() override;
    void take_message(ucd_ucx::rma::DirectMessage &message) override;
    void take_beginning(ucd_ucx::rma::DirectMessage &message) override;
    void take_old_request(ucp_ep_h ep, std::string_view refusal) override;
    void take_failure(ucp_ep_h ep, uint32_t number, ucs_status_t status) override;
    // `direct` is the message that it came in; null if it came in a transfer.
    void take(ucd_ucx::rma::Delivery &delivery, ucd_ucx::rma::DirectMessage *direct);
    void take_answer(const ucd_ucx::rma::Preamble &preamble, ucd_ucx::rma::Delivery &delivery);
    void take_answers(ucd_ucx::rma::DirectMessage &message);
    void take_foreign(const ucd_ucx::rma::Preamble &preamble, ucd_ucx::rma::Delivery &delivery);
    void take_refusal(const ucd_ucx::rma::Preamble &preamble, ucd_ucx::rma::Delivery &delivery);
    bool handle_events();

    ucd_ucx::Queue<ucd_ucx_request> finished_;
    ucd_ucx::DeviceQueue awaited_;
    ucd_ucx::EndpointFailures endpoint_failures_{events};
    bool handling_ = false;
};
