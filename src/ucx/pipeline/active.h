// A pipeline's active messages, as ucd_ucx_am_send_nbx and ucd_ucx_am_recv_nbx say, also to be
// reduced into what is there.
#pragma once

#include "common/failure.h"
#include "datatype/typed_buffer.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <ucd_ucx.h>

namespace ucd_ucx {

class DirectReceiver;

// Beside what a user says of a transfer.
struct TransferTerms {
    uint64_t granule = 1; // bytes: chunks of a sender begin and end between granules
    // The peer that asked for the transfer: chunks wait for room on its account, and for the work
    // that it may cause in a call of progress. Null: the user asked for it.
    ucp_ep_h account = nullptr;
};

Status send_active(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, unsigned id, std::string_view header,
                   const Data &data, const ucd_ucx_param_t *param, const TransferTerms &terms,
                   ucd_ucx_request_t *request);
// With an op other than REPLACE, chunks have to be of whole elements.
Status receive_active(ucd_ucx_pipeline &pipeline, ucd_ucx_data_t message, const Data &to,
                      ucd_op_t op, const ucd_ucx_param_t *param, const TransferTerms &terms,
                      ucd_ucx_request_t *request);

// As ucd_ucx_pipeline_create. What `direct` takes is not the pipeline's.
Status create_pipeline(ucp_worker_h worker, const ucd_ucx_pipeline_params_t &params,
                       ucd_info_t info, std::shared_ptr<Ledger> ledger, DirectReceiver *direct,
                       ucd_ucx_pipeline_t *pipeline);
// The budgets of peers, as the keys say.
Status read_budgets(ucd_info_t info, Ledger::Limits &limits);

// What a transfer takes of memory, but for its chunks.
constexpr uint64_t bytes_of_transfer(const TransferOptions &options) {
    return (2 << 10) + 512 * options.depth;
}

} // namespace ucd_ucx
