// A pipeline's active messages, as ucd_ucx_am_send_nbx and ucd_ucx_am_recv_nbx define them, but
// received data may also be reduced into the buffer.
#pragma once

#include "common/failure.h"
#include "datatype/typed_buffer.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <ucd_ucx.h>

namespace ucd_ucx {

class DirectReceiver;

// Terms of a transfer that users cannot set.
struct TransferTerms {
    uint64_t granule = 1; // bytes; the sender splits chunks at multiples of it
    // The peer that asked for the transfer: chunks wait until its account has room, and until it
    // may cause work in a call of progress. Null if the user asked for the transfer.
    ucp_ep_h account = nullptr;
};

Status send_active(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, unsigned id, std::string_view header,
                   const Data &data, const ucd_ucx_param_t *param, const TransferTerms &terms,
                   ucd_ucx_request_t *request);
// If the op is not REPLACE, chunks must consist of whole elements.
Status receive_active(ucd_ucx_pipeline &pipeline, ucd_ucx_data_t message, const Data &to,
                      ucd_op_t op, const ucd_ucx_param_t *param, const TransferTerms &terms,
                      ucd_ucx_request_t *request);

// Same as ucd_ucx_pipeline_create. The pipeline ignores messages that `direct` takes.
Status create_pipeline(ucp_worker_h worker, const ucd_ucx_pipeline_params_t &params,
                       ucd_info_t info, std::shared_ptr<Ledger> ledger, DirectReceiver *direct,
                       ucd_ucx_pipeline_t *pipeline);
// Reads the budgets of peers from the keys of `info`.
Status read_budgets(ucd_info_t info, Ledger::Limits &limits);

// The memory that a transfer uses, without its chunks.
constexpr uint64_t bytes_of_transfer(const TransferOptions &options) {
    return (2 << 10) + 512 * options.depth;
}

} // namespace ucd_ucx
