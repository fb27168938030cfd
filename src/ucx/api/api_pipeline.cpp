// The C interface of pipelines.

#include "api/arguments.h"
#include "common/sized.h"
#include "pipeline/recv_message.h"
#include "pipeline/transfers.h"

using namespace ucd_ucx;

namespace {

Status check_sending(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, ucd_ucx_request_t *request) {
    UCD_TRY(require(pipeline, "pipeline"));
    UCD_TRY(require(ep, "ep"));
    return require(request, "request");
}

} // namespace

int ucd_ucx_pipeline_create(ucp_worker_h worker, const ucd_ucx_pipeline_params_t *params,
                            ucd_info_t info, ucd_ucx_pipeline_t *pipeline) {
    return guard("ucd_ucx_pipeline_create", [&]() -> Status {
        ucd_ucx_pipeline_params_t known;
        UCD_TRY(read_sized(params, "params", known));
        UCD_TRY(require(pipeline, "pipeline"));
        EngineSettings settings;
        UCD_TRY(check_engine(worker, known, info, settings));
        auto made = std::make_unique<ucd_ucx_pipeline>(known, settings);
        UCD_TRY(made->transfers.open());
        UCD_TRY(made->engine.open(worker));
        *pipeline = made.release();
        return success;
    });
}

int ucd_ucx_pipeline_destroy(ucd_ucx_pipeline_t *pipeline) {
    return guard("ucd_ucx_pipeline_destroy", [&]() -> Status {
        UCD_TRY(require(pipeline, "pipeline"));
        if (*pipeline == UCD_UCX_PIPELINE__NULL) return success;
        std::size_t outstanding;
        {
            const std::lock_guard held((*pipeline)->engine.lock);
            outstanding = (*pipeline)->transfers.outstanding();
        }
        if (outstanding > 0)
            return fail(UCD_ERR__INVALID_ARG, "*pipeline has %zu transfers; it must have none",
                        outstanding);
        delete *pipeline;
        *pipeline = UCD_UCX_PIPELINE__NULL;
        return success;
    });
}

unsigned ucd_ucx_progress(ucd_ucx_pipeline_t pipeline) {
    return pipeline == UCD_UCX_PIPELINE__NULL ? 0 : pipeline->engine.progress();
}

int ucd_ucx_send_nbx(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, const void *buf, uintptr_t count,
                     ucd_type_t type, ucp_tag_t tag, const ucd_ucx_param_t *param,
                     ucd_ucx_request_t *request) {
    return guard("ucd_ucx_send_nbx", [&]() -> Status {
        UCD_TRY(check_sending(pipeline, ep, request));
        const std::lock_guard held(pipeline->engine.lock);
        return pipeline->transfers.send_tagged(ep, {buf, count, type}, tag, param, request);
    });
}

int ucd_ucx_am_send_nbx(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, unsigned id, const void *header,
                        size_t header_length, const void *buf, uintptr_t count, ucd_type_t type,
                        const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    return guard("ucd_ucx_am_send_nbx", [&]() -> Status {
        UCD_TRY(check_sending(pipeline, ep, request));
        if (header_length > 0) UCD_TRY(require(header, "header"));
        const std::lock_guard held(pipeline->engine.lock);
        return pipeline->transfers.send_active(ep, id,
                                               {static_cast<const char *>(header), header_length},
                                               {buf, count, type}, param, {}, request);
    });
}

int ucd_ucx_recv_nbx(ucd_ucx_pipeline_t pipeline, void *buf, uintptr_t count, ucd_type_t type,
                     ucp_tag_t tag, ucp_tag_t tag_mask, const ucd_ucx_param_t *param,
                     ucd_ucx_request_t *request) {
    return guard("ucd_ucx_recv_nbx", [&]() -> Status {
        UCD_TRY(require(pipeline, "pipeline"));
        UCD_TRY(require(request, "request"));
        const std::lock_guard held(pipeline->engine.lock);
        return pipeline->transfers.receive_tagged({buf, count, type}, tag, tag_mask, param,
                                                  request);
    });
}

int ucd_ucx_am_set_handler(ucd_ucx_pipeline_t pipeline, ucd_ucx_am_callback_t callback, void *arg) {
    return guard("ucd_ucx_am_set_handler", [&]() -> Status {
        UCD_TRY(require(pipeline, "pipeline"));
        const std::lock_guard held(pipeline->engine.lock);
        pipeline->engine.handler = {callback, arg};
        return success;
    });
}

int ucd_ucx_am_recv_nbx(ucd_ucx_pipeline_t pipeline, ucd_ucx_data_t data, void *buf,
                        uintptr_t count, ucd_type_t type, const ucd_ucx_param_t *param,
                        ucd_ucx_request_t *request) {
    return guard("ucd_ucx_am_recv_nbx", [&]() -> Status {
        UCD_TRY(require(pipeline, "pipeline"));
        UCD_TRY(require(data, "data"));
        UCD_TRY(require(request, "request"));
        const std::lock_guard held(pipeline->engine.lock);
        return pipeline->transfers.receive_active(*reinterpret_cast<RecvMessage *>(data),
                                                  {buf, count, type}, UCD_OP__REPLACE, param, {},
                                                  request);
    });
}

int ucd_ucx_am_drop(ucd_ucx_pipeline_t pipeline, ucd_ucx_data_t data) {
    return guard("ucd_ucx_am_drop", [&]() -> Status {
        UCD_TRY(require(pipeline, "pipeline"));
        UCD_TRY(require(data, "data"));
        const std::lock_guard held(pipeline->engine.lock);
        reinterpret_cast<RecvMessage *>(data)->abandon();
        return success;
    });
}

int ucd_ucx_cancel(ucd_ucx_pipeline_t pipeline, ucd_ucx_request_t request) {
    return guard("ucd_ucx_cancel", [&]() -> Status {
        UCD_TRY(require(pipeline, "pipeline"));
        UCD_TRY(require(request, "request"));
        const std::lock_guard held(pipeline->engine.lock);
        pipeline->engine.handle_endpoint_failures();
        request->cancel();
        return success;
    });
}

int ucd_ucx_lose_endpoint(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, ucs_status_t status) {
    return guard("ucd_ucx_lose_endpoint", [&]() -> Status {
        UCD_TRY(require(pipeline, "pipeline"));
        return lose_endpoint(pipeline->engine, ep, status);
    });
}
