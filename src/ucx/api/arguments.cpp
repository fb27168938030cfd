#include "api/arguments.h"

#include "common/tokens.h"

namespace ucd_ucx {

Status check_engine(ucp_worker_h worker, const ucd_ucx_pipeline_params_t &params, ucd_info_t info,
                    EngineSettings &settings) {
    int backends;
    UCD_TRY(ucd_ok(ucd_backend_count(&backends))); // libucd is initialised
    UCD_TRY(require(worker, "worker"));
    // UCX's functions have room for more, but only these 16 bits are in its messages.
    if (params.am_id > UINT16_MAX)
        return fail(UCD_ERR__INVALID_ARG, "params->am_id is %u; it must be at most %u",
                    params.am_id, unsigned{UINT16_MAX});
    if ((params.allocate == nullptr) != (params.release == nullptr))
        return fail(UCD_ERR__INVALID_ARG, "of params->allocate and release, one is NULL");
    UCD_TRY(start_cryptography());
    return settings.read(info);
}

Status lose_endpoint(WorkerEngine &engine, ucp_ep_h ep, ucs_status_t status) {
    UCD_TRY(require(ep, "ep"));
    if (status >= UCS_OK)
        return fail(UCD_ERR__INVALID_ARG, "status is %s; it must be an error",
                    ucs_status_string(status));
    engine.endpoint_failures.note(ep, status);
    return success;
}

} // namespace ucd_ucx
