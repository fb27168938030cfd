// A pipeline's active messages, as ucd_ucx_am_send_nbx and ucd_ucx_am_recv_nbx say, also to be
// reduced into what is there.
#pragma once

#include "common/failure.h"
#include "datatype/typed_buffer.h"

#include <cstdint>
#include <string_view>
#include <ucd_ucx.h>

namespace ucd_ucx {

class DirectReceiver;

// Chunks begin and end between granules, of so many bytes each.
Status send_active(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, unsigned id, std::string_view header,
                   const Data &data, const ucd_ucx_param_t *param, uint64_t granule,
                   ucd_ucx_request_t *request);
// With an op other than REPLACE, chunks have to be of whole elements.
Status receive_active(ucd_ucx_pipeline &pipeline, ucd_ucx_data_t message, const Data &to,
                      ucd_op_t op, const ucd_ucx_param_t *param, ucd_ucx_request_t *request);

// As ucd_ucx_pipeline_create. What `direct` takes is not the pipeline's.
Status create_pipeline(ucp_worker_h worker, const ucd_ucx_pipeline_params_t &params,
                       ucd_info_t info, DirectReceiver *direct, ucd_ucx_pipeline_t *pipeline);

} // namespace ucd_ucx
