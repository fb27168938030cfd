// The arguments that the functions of pipelines and of one-sided operations share.
#pragma once

#include "engine/engine.h"

#include <algorithm>
#include <cstring>

namespace ucd_ucx {

// Copies a struct of parameters, also one of a program that was built with an earlier header.
template <class Params>
Status read_params(const Params *params, Params &known) {
    UCD_TRY(require(params, "params"));
    if (params->struct_size < sizeof params->struct_size)
        return fail(UCD_ERR__INVALID_ARG,
                    "params->struct_size is %u; it must be the size of the struct",
                    params->struct_size);
    known = {};
    std::memcpy(&known, params, std::min<std::size_t>(params->struct_size, sizeof known));
    return success;
}

// Checks what an engine is opened with, and reads its settings.
Status check_engine(ucp_worker_h worker, const ucd_ucx_pipeline_params_t &params, ucd_info_t info,
                    EngineSettings &settings);

Status lose_endpoint(Engine &engine, ucp_ep_h ep, ucs_status_t status);

} // namespace ucd_ucx
