// The C interface of one-sided operations.

#include "api/object.h"

#include <mutex>

using namespace ucd_ucx;
using namespace ucd_ucx::rma;

namespace {

const Data none;

int start(ucd_ucx_t ucx, const RmaArguments &arguments, ucd_ucx_request_t *request) {
    return guard(name_of(arguments.verb), [&]() -> Status {
        UCD_TRY(require_one_sided(ucx));
        UCD_TRY(require(arguments.ep, "ep"));
        UCD_TRY(require(arguments.key, "key"));
        UCD_TRY(require(request, "request"));
        const bool known = arguments.op >= UCD_OP__REPLACE && arguments.op <= UCD_OP__MINLOC;
        if (!known && (arguments.op != UCD_UCX_OP__NO_OP || arguments.verb != Verb::get_accumulate))
            return fail(UCD_ERR__INVALID_ARG, "op is %d, which is none", arguments.op);
        const std::lock_guard held(ucx->engine.lock);
        ucx->engine.handle_endpoint_failures();
        return ucx->one_sided->origin.start(arguments, request);
    });
}

Status add(ucd_ucx_object &ucx, std::unique_ptr<ucd_ucx_window> made, ucd_info_t info,
           ucd_ucx_window_t *window) {
    UCD_TRY(made->set(info, ucx.engine.options));
    ucd_ucx_window_t handle = made.get();
    const std::lock_guard held(ucx.engine.lock);
    ucx.one_sided->target.add(std::move(made));
    *window = handle;
    return success;
}

} // namespace

int ucd_ucx_window_create(ucd_ucx_t ucx, void *base, uintptr_t bytes, ucd_info_t info,
                          ucd_ucx_window_t *window) {
    return guard("ucd_ucx_window_create", [&]() -> Status {
        UCD_TRY(require_one_sided(ucx));
        UCD_TRY(require(window, "window"));
        if (bytes > 0) UCD_TRY(require(static_cast<char *>(base), "base"));
        return add(*ucx, std::make_unique<ucd_ucx_window>(*ucx->one_sided, base, bytes), info,
                   window);
    });
}

int ucd_ucx_window_allocate(ucd_ucx_t ucx, uintptr_t bytes, ucd_info_t info, void **base,
                            ucd_ucx_window_t *window) {
    return guard("ucd_ucx_window_allocate", [&]() -> Status {
        UCD_TRY(require_one_sided(ucx));
        UCD_TRY(require(base, "base"));
        UCD_TRY(require(window, "window"));
        std::unique_ptr<WindowMemory> memory;
        if (bytes > 0) memory = WindowMemory::make(bytes);
        if (bytes > 0 && memory == nullptr)
            return fail(UCD_ERR__OUT_OF_MEM, "there are no %ju bytes for a window",
                        uintmax_t{bytes});
        char *const at = memory == nullptr ? nullptr : memory->base();
        auto made = std::make_unique<ucd_ucx_window>(*ucx->one_sided, at, bytes, std::move(memory));
        UCD_TRY(add(*ucx, std::move(made), info, window));
        *base = at;
        return success;
    });
}

int ucd_ucx_window_key(ucd_ucx_window_t window, ucd_ucx_window_key_t *key) {
    return guard("ucd_ucx_window_key", [&]() -> Status {
        UCD_TRY(require(window, "window"));
        UCD_TRY(require(key, "key"));
        *key = window_key(window->name);
        return success;
    });
}

int ucd_ucx_window_destroy(ucd_ucx_window_t *window) {
    return guard("ucd_ucx_window_destroy", [&]() -> Status {
        UCD_TRY(require(window, "window"));
        if (*window == UCD_UCX_WINDOW__NULL) return success;
        OneSided &rma = (*window)->rma;
        const std::lock_guard held(rma.engine.lock);
        rma.engine.handle_endpoint_failures();
        UCD_TRY(rma.target.remove(**window));
        *window = UCD_UCX_WINDOW__NULL;
        return success;
    });
}

int ucd_ucx_put_nbx(ucd_ucx_t ucx, ucp_ep_h ep, const void *origin_buf, uintptr_t origin_count,
                    ucd_type_t origin_type, const ucd_ucx_window_key_t *key, intptr_t target_disp,
                    uintptr_t target_count, ucd_type_t target_type, const ucd_ucx_param_t *param,
                    ucd_ucx_request_t *request) {
    const Data origin = {origin_buf, origin_count, origin_type};
    const Data target = {nullptr, target_count, target_type};
    return start(ucx,
                 {Verb::put, ep, origin, none, key, target_disp, target, UCD_OP__REPLACE, param},
                 request);
}

int ucd_ucx_get_nbx(ucd_ucx_t ucx, ucp_ep_h ep, void *origin_buf, uintptr_t origin_count,
                    ucd_type_t origin_type, const ucd_ucx_window_key_t *key, intptr_t target_disp,
                    uintptr_t target_count, ucd_type_t target_type, const ucd_ucx_param_t *param,
                    ucd_ucx_request_t *request) {
    const Data origin = {origin_buf, origin_count, origin_type};
    const Data target = {nullptr, target_count, target_type};
    return start(ucx,
                 {Verb::get, ep, none, origin, key, target_disp, target, UCD_OP__REPLACE, param},
                 request);
}

int ucd_ucx_accumulate_nbx(ucd_ucx_t ucx, ucp_ep_h ep, const void *origin_buf,
                           uintptr_t origin_count, ucd_type_t origin_type,
                           const ucd_ucx_window_key_t *key, intptr_t target_disp,
                           uintptr_t target_count, ucd_type_t target_type, ucd_op_t op,
                           const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    const Data origin = {origin_buf, origin_count, origin_type};
    const Data target = {nullptr, target_count, target_type};
    return start(ucx, {Verb::accumulate, ep, origin, none, key, target_disp, target, op, param},
                 request);
}

int ucd_ucx_get_accumulate_nbx(ucd_ucx_t ucx, ucp_ep_h ep, const void *origin_buf,
                               uintptr_t origin_count, ucd_type_t origin_type, void *result_buf,
                               uintptr_t result_count, ucd_type_t result_type,
                               const ucd_ucx_window_key_t *key, intptr_t target_disp,
                               uintptr_t target_count, ucd_type_t target_type, ucd_op_t op,
                               const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    const Data origin = {origin_buf, origin_count, origin_type};
    const Data result = {result_buf, result_count, result_type};
    const Data target = {nullptr, target_count, target_type};
    return start(ucx,
                 {Verb::get_accumulate, ep, origin, result, key, target_disp, target, op, param},
                 request);
}

int ucd_ucx_flush_nbx(ucd_ucx_t ucx, ucp_ep_h ep, const ucd_ucx_param_t *param,
                      ucd_ucx_request_t *request) {
    return guard("ucd_ucx_flush_nbx", [&]() -> Status {
        UCD_TRY(require_one_sided(ucx));
        UCD_TRY(require(request, "request"));
        const std::lock_guard held(ucx->engine.lock);
        ucx->engine.handle_endpoint_failures();
        return ucx->one_sided->origin.flush(ep, param, request);
    });
}

int ucd_ucx_fence(ucd_ucx_t ucx, ucp_ep_h ep) {
    return guard("ucd_ucx_fence", [&]() -> Status {
        UCD_TRY(require_one_sided(ucx));
        const std::lock_guard held(ucx->engine.lock);
        ucx->engine.handle_endpoint_failures();
        ucx->one_sided->origin.fence(ep);
        return success;
    });
}
