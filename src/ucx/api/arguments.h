// The arguments that the functions of pipelines and of one-sided operations share.
#pragma once

#include "engine/engine.h"

namespace ucd_ucx {

// Checks what an engine is opened with, and reads its settings.
Status check_engine(ucp_worker_h worker, const ucd_ucx_pipeline_params_t &params, ucd_info_t info,
                    EngineSettings &settings);

Status lose_endpoint(WorkerEngine &engine, ucp_ep_h ep, ucs_status_t status);

} // namespace ucd_ucx
