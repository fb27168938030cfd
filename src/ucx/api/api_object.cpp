// The C interface of objects: what transfers and one-sided operations share.

#include "api/object.h"
#include "common/sized.h"
#include "common/tokens.h"

#include <mutex>

using namespace ucd_ucx;

namespace {

constexpr unsigned all_families = UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED;

Status check(ucp_worker_h worker, const ucd_ucx_params_t &params) {
    int backends;
    UCD_TRY(ucd_ok(ucd_backend_count(&backends))); // libucd is initialised
    UCD_TRY(require(worker, "worker"));
    if (params.families == 0 || (params.families & ~all_families) != 0)
        return fail(UCD_ERR__INVALID_ARG,
                    "params->families is %u; it must be UCD_UCX_TRANSFERS, UCD_UCX_ONE_SIDED, or "
                    "both",
                    unsigned{params.families});
    if ((params.allocate == nullptr) != (params.release == nullptr))
        return fail(UCD_ERR__INVALID_ARG, "of params->allocate and release, one is NULL");
    return start_cryptography();
}

Status open(ucp_worker_h worker, const ucd_ucx_params_t &params, const EngineSettings &settings,
            ucd_ucx_t *ucx) {
    auto made = std::make_unique<ucd_ucx_object>(params, settings);
    UCD_TRY(made->transfers.open());
    UCD_TRY(made->engine.open(worker));
    *ucx = made.release();
    return success;
}

} // namespace

Status ucd_ucx_object::check_idle() const {
    if (one_sided) UCD_TRY(one_sided->check_idle());
    const std::size_t outstanding = transfers.outstanding();
    if (outstanding == 0) return success;
    return fail(UCD_ERR__INVALID_ARG, "*ucx has %zu transfers; it must have none", outstanding);
}

Status ucd_ucx::require_transfers(ucd_ucx_t ucx) {
    UCD_TRY(require(ucx, "ucx"));
    if (ucx->has(UCD_UCX_TRANSFERS)) return success;
    return fail(UCD_ERR__INVALID_ARG, "ucx was created without UCD_UCX_TRANSFERS");
}

Status ucd_ucx::require_one_sided(ucd_ucx_t ucx) {
    UCD_TRY(require(ucx, "ucx"));
    if (ucx->has(UCD_UCX_ONE_SIDED)) return success;
    return fail(UCD_ERR__INVALID_ARG, "ucx was created without UCD_UCX_ONE_SIDED");
}

int ucd_ucx_create(ucp_worker_h worker, const ucd_ucx_params_t *params, ucd_info_t info,
                   ucd_ucx_t *ucx) {
    return guard("ucd_ucx_create", [&]() -> Status {
        ucd_ucx_params_t known;
        UCD_TRY(read_sized(params, "params", known));
        UCD_TRY(require(ucx, "ucx"));
        UCD_TRY(check(worker, known));
        EngineSettings settings;
        UCD_TRY(settings.read(info));
        // The object keeps libucd initialised, so that it may be destroyed after ucd_finalize.
        UCD_TRY(ucd_ok(ucd_init(UCD_INFO__NULL)));
        const Status status =
            without_exceptions([&] { return open(worker, known, settings, ucx); });
        if (!status.ok()) (void)ucd_finalize();
        return status;
    });
}

int ucd_ucx_destroy(ucd_ucx_t *ucx) {
    return guard("ucd_ucx_destroy", [&]() -> Status {
        UCD_TRY(require(ucx, "ucx"));
        if (*ucx == UCD_UCX__NULL) return success;
        {
            const std::lock_guard held((*ucx)->engine.lock);
            UCD_TRY((*ucx)->check_idle());
        }
        delete *ucx;
        *ucx = UCD_UCX__NULL;
        return ucd_ok(ucd_finalize());
    });
}

unsigned ucd_ucx_progress(ucd_ucx_t ucx) {
    return ucx == UCD_UCX__NULL ? 0 : ucx->engine.progress();
}

int ucd_ucx_lose_endpoint(ucd_ucx_t ucx, ucp_ep_h ep, ucs_status_t status) {
    return guard("ucd_ucx_lose_endpoint", [&]() -> Status {
        UCD_TRY(require(ucx, "ucx"));
        UCD_TRY(require(ep, "ep"));
        if (status >= UCS_OK)
            return fail(UCD_ERR__INVALID_ARG, "status is %s; it must be an error",
                        ucs_status_string(status));
        ucx->engine.endpoint_failures.note(ep, status);
        return success;
    });
}

int ucd_ucx_cancel(ucd_ucx_t ucx, ucd_ucx_request_t request) {
    return guard("ucd_ucx_cancel", [&]() -> Status {
        UCD_TRY(require(ucx, "ucx"));
        UCD_TRY(require(request, "request"));
        const std::lock_guard held(ucx->engine.lock);
        ucx->engine.handle_endpoint_failures();
        request->cancel();
        return success;
    });
}
