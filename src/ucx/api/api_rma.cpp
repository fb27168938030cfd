// The C interface of one-sided operations.

#include "pipeline/pipeline.h"
#include "rma/rma.h"

#include <algorithm>
#include <cstring>

using namespace ucd_ucx;
using namespace ucd_ucx::rma;

namespace {

Status start(ucd_ucx_rma_t rma, const Arguments &arguments, ucd_ucx_request_t *request) {
    UCD_UCX_TRY(require(rma, "rma"));
    UCD_UCX_TRY(require(arguments.ep, "ep"));
    UCD_UCX_TRY(require(arguments.key, "key"));
    UCD_UCX_TRY(require(request, "request"));
    const bool known = arguments.op >= UCD_OP__REPLACE && arguments.op <= UCD_OP__MINLOC;
    if (!known && (arguments.op != UCD_UCX_OP__NO_OP || arguments.verb != Verb::get_accumulate))
        return fail(UCD_ERR__INVALID_ARG, "op is %d, which is none", arguments.op);
    const std::lock_guard held(rma->lock);
    rma->handle_endpoint_failures();
    return rma->origin.start(arguments, request);
}

} // namespace

int ucd_ucx_rma_create(ucp_worker_h worker, const ucd_ucx_rma_params_t *params, ucd_info_t info,
                       ucd_ucx_rma_t *rma) {
    return guard("ucd_ucx_rma_create", [&]() -> Status {
        UCD_UCX_TRY(require(params, "params"));
        UCD_UCX_TRY(require(rma, "rma"));
        if (params->struct_size < sizeof params->struct_size)
            return fail(UCD_ERR__INVALID_ARG,
                        "params->struct_size is %u; it must be the size of the struct",
                        params->struct_size);
        ucd_ucx_rma_params_t known = {};
        std::memcpy(&known, params, std::min<std::size_t>(params->struct_size, sizeof known));
        Ledger::Limits budgets;
        UCD_UCX_TRY(read_budgets(info, budgets));
        uint64_t operations = Target::default_peer_operations;
        UCD_UCX_TRY(read_number(info, "ucd.ucx.rma.peer_operations", 1, INTPTR_MAX, operations));
        auto made = std::make_unique<ucd_ucx_rma>(budgets, operations);
        UCD_UCX_TRY(made->open(worker, known, info));
        *rma = made.release();
        return success;
    });
}

int ucd_ucx_rma_destroy(ucd_ucx_rma_t *rma) {
    return guard("ucd_ucx_rma_destroy", [&]() -> Status {
        UCD_UCX_TRY(require(rma, "rma"));
        UCD_UCX_TRY(require(*rma, "*rma"));
        UCD_UCX_TRY((*rma)->close());
        delete *rma;
        *rma = UCD_UCX_RMA__NULL;
        return success;
    });
}

unsigned ucd_ucx_rma_progress(ucd_ucx_rma_t rma) {
    if (rma == UCD_UCX_RMA__NULL) return 0;
    try {
        return rma->progress();
    } catch (const std::bad_alloc &) {
        return 1; // what needs no memory has been done
    }
}

int ucd_ucx_rma_lose_endpoint(ucd_ucx_rma_t rma, ucp_ep_h ep, ucs_status_t status) {
    return guard("ucd_ucx_rma_lose_endpoint", [&]() -> Status {
        UCD_UCX_TRY(require(rma, "rma"));
        UCD_UCX_TRY(require(ep, "ep"));
        if (status >= UCS_OK)
            return fail(UCD_ERR__INVALID_ARG, "status is %s; it must be an error",
                        ucs_status_string(status));
        return rma->on_endpoint_failed(ep, status);
    });
}

int ucd_ucx_window_create(ucd_ucx_rma_t rma, void *base, uintptr_t bytes, ucd_info_t info,
                          ucd_ucx_window_t *window) {
    return guard("ucd_ucx_window_create", [&]() -> Status {
        UCD_UCX_TRY(require(rma, "rma"));
        UCD_UCX_TRY(require(window, "window"));
        if (bytes > 0) UCD_UCX_TRY(require(static_cast<char *>(base), "base"));
        auto made = std::make_unique<ucd_ucx_window>(*rma, base, bytes);
        UCD_UCX_TRY(made->set(info, rma->pipeline->options));
        ucd_ucx_window_t handle = made.get();
        const std::lock_guard held(rma->lock);
        rma->target.add(std::move(made));
        *window = handle;
        return success;
    });
}

int ucd_ucx_window_key(ucd_ucx_window_t window, ucd_ucx_window_key_t *key) {
    return guard("ucd_ucx_window_key", [&]() -> Status {
        UCD_UCX_TRY(require(window, "window"));
        UCD_UCX_TRY(require(key, "key"));
        *key = window_key(window->name);
        return success;
    });
}

int ucd_ucx_window_destroy(ucd_ucx_window_t *window) {
    return guard("ucd_ucx_window_destroy", [&]() -> Status {
        UCD_UCX_TRY(require(window, "window"));
        UCD_UCX_TRY(require(*window, "*window"));
        ucd_ucx_rma &rma = (*window)->rma;
        const std::lock_guard held(rma.lock);
        rma.handle_endpoint_failures();
        UCD_UCX_TRY(rma.target.remove(**window));
        *window = UCD_UCX_WINDOW__NULL;
        return success;
    });
}

int ucd_ucx_put_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, const void *origin_buf, uintptr_t origin_count,
                    ucd_type_t origin_type, const ucd_ucx_window_key_t *key, intptr_t target_disp,
                    uintptr_t target_count, ucd_type_t target_type, const ucd_ucx_param_t *param,
                    ucd_ucx_request_t *request) {
    return guard("ucd_ucx_put_nbx", [&] {
        return start(rma,
                     {.verb = Verb::put,
                      .ep = ep,
                      .sent = {origin_buf, origin_count, origin_type},
                      .received = {},
                      .key = key,
                      .displacement = target_disp,
                      .target = {nullptr, target_count, target_type},
                      .param = param},
                     request);
    });
}

int ucd_ucx_get_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, void *origin_buf, uintptr_t origin_count,
                    ucd_type_t origin_type, const ucd_ucx_window_key_t *key, intptr_t target_disp,
                    uintptr_t target_count, ucd_type_t target_type, const ucd_ucx_param_t *param,
                    ucd_ucx_request_t *request) {
    return guard("ucd_ucx_get_nbx", [&] {
        return start(rma,
                     {.verb = Verb::get,
                      .ep = ep,
                      .sent = {},
                      .received = {origin_buf, origin_count, origin_type},
                      .key = key,
                      .displacement = target_disp,
                      .target = {nullptr, target_count, target_type},
                      .param = param},
                     request);
    });
}

int ucd_ucx_accumulate_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, const void *origin_buf,
                           uintptr_t origin_count, ucd_type_t origin_type,
                           const ucd_ucx_window_key_t *key, intptr_t target_disp,
                           uintptr_t target_count, ucd_type_t target_type, ucd_op_t op,
                           const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    return guard("ucd_ucx_accumulate_nbx", [&] {
        return start(rma,
                     {.verb = Verb::accumulate,
                      .ep = ep,
                      .sent = {origin_buf, origin_count, origin_type},
                      .received = {},
                      .key = key,
                      .displacement = target_disp,
                      .target = {nullptr, target_count, target_type},
                      .op = op,
                      .param = param},
                     request);
    });
}

int ucd_ucx_get_accumulate_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, const void *origin_buf,
                               uintptr_t origin_count, ucd_type_t origin_type, void *result_buf,
                               uintptr_t result_count, ucd_type_t result_type,
                               const ucd_ucx_window_key_t *key, intptr_t target_disp,
                               uintptr_t target_count, ucd_type_t target_type, ucd_op_t op,
                               const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    return guard("ucd_ucx_get_accumulate_nbx", [&] {
        return start(rma,
                     {.verb = Verb::get_accumulate,
                      .ep = ep,
                      .sent = {origin_buf, origin_count, origin_type},
                      .received = {result_buf, result_count, result_type},
                      .key = key,
                      .displacement = target_disp,
                      .target = {nullptr, target_count, target_type},
                      .op = op,
                      .param = param},
                     request);
    });
}

int ucd_ucx_rma_flush_nbx(ucd_ucx_rma_t rma, ucp_ep_h ep, const ucd_ucx_param_t *param,
                          ucd_ucx_request_t *request) {
    return guard("ucd_ucx_rma_flush_nbx", [&]() -> Status {
        UCD_UCX_TRY(require(rma, "rma"));
        UCD_UCX_TRY(require(request, "request"));
        const std::lock_guard held(rma->lock);
        return rma->origin.flush(ep, param, request);
    });
}

int ucd_ucx_rma_fence(ucd_ucx_rma_t rma, ucp_ep_h ep) {
    return guard("ucd_ucx_rma_fence", [&]() -> Status {
        UCD_UCX_TRY(require(rma, "rma"));
        const std::lock_guard held(rma->lock);
        rma->origin.fence(ep);
        return success;
    });
}
