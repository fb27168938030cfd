// The C interface of transfers.

#include "api/object.h"
#include "pipeline/recv_message.h"

#include <mutex>

using namespace ucd_ucx;

namespace {

Status check_sending(ucd_ucx_t ucx, ucp_ep_h ep, ucd_ucx_request_t *request) {
    UCD_TRY(require_transfers(ucx));
    UCD_TRY(require(ep, "ep"));
    return require(request, "request");
}

} // namespace

int ucd_ucx_send_nbx(ucd_ucx_t ucx, ucp_ep_h ep, const void *buf, uintptr_t count, ucd_type_t type,
                     ucp_tag_t tag, const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    return guard("ucd_ucx_send_nbx", [&]() -> Status {
        UCD_TRY(check_sending(ucx, ep, request));
        const std::lock_guard held(ucx->engine.lock);
        ucx->engine.handle_endpoint_failures();
        return ucx->transfers.send_tagged(ep, {buf, count, type}, tag, param, request);
    });
}

int ucd_ucx_am_send_nbx(ucd_ucx_t ucx, ucp_ep_h ep, unsigned id, const void *header,
                        size_t header_length, const void *buf, uintptr_t count, ucd_type_t type,
                        const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    return guard("ucd_ucx_am_send_nbx", [&]() -> Status {
        UCD_TRY(check_sending(ucx, ep, request));
        if (header_length > 0) UCD_TRY(require(header, "header"));
        if (id == Transfers::own_id)
            return fail(UCD_ERR__INVALID_ARG, "id is 0; it must be at least 1");
        const std::lock_guard held(ucx->engine.lock);
        ucx->engine.handle_endpoint_failures();
        return ucx->transfers.send_active(ep, id,
                                          {static_cast<const char *>(header), header_length},
                                          {buf, count, type}, param, {}, request);
    });
}

int ucd_ucx_recv_nbx(ucd_ucx_t ucx, void *buf, uintptr_t count, ucd_type_t type, ucp_tag_t tag,
                     ucp_tag_t tag_mask, const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    return guard("ucd_ucx_recv_nbx", [&]() -> Status {
        UCD_TRY(require_transfers(ucx));
        UCD_TRY(require(request, "request"));
        const std::lock_guard held(ucx->engine.lock);
        return ucx->transfers.receive_tagged({buf, count, type}, tag, tag_mask, param, request);
    });
}

int ucd_ucx_am_set_handler(ucd_ucx_t ucx, ucd_ucx_am_callback_t callback, void *arg) {
    return guard("ucd_ucx_am_set_handler", [&]() -> Status {
        UCD_TRY(require_transfers(ucx));
        const std::lock_guard held(ucx->engine.lock);
        ucx->engine.handler = {callback, arg};
        return success;
    });
}

int ucd_ucx_am_recv_nbx(ucd_ucx_t ucx, ucd_ucx_data_t data, void *buf, uintptr_t count,
                        ucd_type_t type, const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    return guard("ucd_ucx_am_recv_nbx", [&]() -> Status {
        UCD_TRY(require_transfers(ucx));
        UCD_TRY(require(data, "data"));
        UCD_TRY(require(request, "request"));
        const std::lock_guard held(ucx->engine.lock);
        ucx->engine.handle_endpoint_failures();
        return ucx->transfers.receive_active(*reinterpret_cast<RecvMessage *>(data),
                                             {buf, count, type}, UCD_OP__REPLACE, param, {},
                                             request);
    });
}

int ucd_ucx_am_drop(ucd_ucx_t ucx, ucd_ucx_data_t data) {
    return guard("ucd_ucx_am_drop", [&]() -> Status {
        UCD_TRY(require_transfers(ucx));
        UCD_TRY(require(data, "data"));
        const std::lock_guard held(ucx->engine.lock);
        reinterpret_cast<RecvMessage *>(data)->abandon();
        return success;
    });
}
