// The C interface of pipelines.

#include "common/tokens.h"
#include "pipeline/active.h"
#include "pipeline/pipeline.h"
#include "pipeline/receiving.h"
#include "pipeline/recv_message.h"
#include "pipeline/sending.h"

#include <algorithm>
#include <cstring>

using namespace ucd_ucx;

namespace {

// Starts a send, and gives the user a request unless the send is already complete.
template <class Start>
Status start_sending(ucd_ucx_pipeline &p, std::unique_ptr<Sending> sending, Start &&start,
                     ucd_ucx_request_t *request) {
    p.transfers.reserve_sending();
    start(*sending);
    if (sending->is_complete()) {
        UCD_UCX_TRY(sending->start_status());
        *request = UCD_UCX_REQUEST__NULL;
        return success;
    }
    p.transfers.add(*sending);
    *request = sending.release();
    return success;
}

Status require_libucd() {
    int backends;
    return ucd_ok(ucd_backend_count(&backends));
}

Status read_staging_limits(ucd_info_t info, StagingLimits &limits) {
    UCD_UCX_TRY(read_number(info, "ucd.ucx.staging", 0, INTPTR_MAX, limits.host));
    return read_number(info, "ucd.ucx.ring_staging", 0, INTPTR_MAX, limits.ring);
}

Status check_sending(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, ucd_ucx_request_t *request) {
    UCD_UCX_TRY(require(pipeline, "pipeline"));
    UCD_UCX_TRY(require(ep, "ep"));
    return require(request, "request");
}

} // namespace

Status ucd_ucx::read_budgets(ucd_info_t info, Ledger::Limits &limits) {
    UCD_UCX_TRY(read_number(info, "ucd.ucx.peer_memory", 1 << 20, INTPTR_MAX, limits.peer));
    UCD_UCX_TRY(read_number(info, "ucd.ucx.peers_memory", 1 << 20, INTPTR_MAX, limits.peers));
    return read_number(info, "ucd.ucx.rma.types", 0, INTPTR_MAX, limits.remembered);
}

Status ucd_ucx::send_active(ucd_ucx_pipeline &p, ucp_ep_h ep, unsigned id, std::string_view header,
                            const Data &data, const ucd_ucx_param_t *param,
                            const TransferTerms &terms, ucd_ucx_request_t *request) {
    if (header.size() > p.max_user_header)
        return fail(UCD_ERR__INVALID_ARG, "header_length is %zu; it must be at most %zu",
                    header.size(), p.max_user_header);
    const std::lock_guard held(p.lock); // outlives `sending`, whose destructor gives back blocks
    auto sending = std::make_unique<Sending>();
    UCD_UCX_TRY(sending->set(p, ep, data, param, Matching::am, terms));
    return start_sending(
        p, std::move(sending), [&](Sending &s) { s.start_am(p, id, header.data(), header.size()); },
        request);
}

Status ucd_ucx::receive_active(ucd_ucx_pipeline &p, ucd_ucx_data_t message, const Data &to,
                               ucd_op_t op, const ucd_ucx_param_t *param,
                               const TransferTerms &terms, ucd_ucx_request_t *request) {
    auto receiving = std::make_unique<Receiving>();
    const std::lock_guard held(p.lock);
    UCD_UCX_TRY(receiving->set(p, to, param, op, terms));
    p.transfers.add(*receiving);
    Receiving &started = *receiving.release();
    *request = &started;
    const Status status = without_exceptions([&] {
        started.start_am(p, *reinterpret_cast<RecvMessage *>(message));
        return success;
    });
    if (!status.ok()) started.fail(p, ucx_status_of(status.code()), status.code());
    return success;
}

Status ucd_ucx::create_pipeline(ucp_worker_h worker, const ucd_ucx_pipeline_params_t &params,
                                ucd_info_t info, std::shared_ptr<Ledger> ledger,
                                DirectReceiver *direct, ucd_ucx_pipeline_t *pipeline) {
    UCD_UCX_TRY(require_libucd());
    UCD_UCX_TRY(require(worker, "worker"));
    if ((params.allocate == nullptr) != (params.release == nullptr))
        return fail(UCD_ERR__INVALID_ARG, "of params->allocate and release, one is NULL");
    UCD_UCX_TRY(start_cryptography());
    TransferOptions options;
    UCD_UCX_TRY(read_transfer_options(info, options));
    StagingLimits limits;
    UCD_UCX_TRY(read_staging_limits(info, limits));
    auto made =
        std::make_unique<ucd_ucx_pipeline>(worker, params, options, limits, std::move(ledger));
    made->direct = direct;
    UCD_UCX_TRY(made->open());
    *pipeline = made.release();
    return success;
}

int ucd_ucx_pipeline_create(ucp_worker_h worker, const ucd_ucx_pipeline_params_t *params,
                            ucd_info_t info, ucd_ucx_pipeline_t *pipeline) {
    return guard("ucd_ucx_pipeline_create", [&]() -> Status {
        UCD_UCX_TRY(require(params, "params"));
        UCD_UCX_TRY(require(pipeline, "pipeline"));
        if (params->struct_size < sizeof params->struct_size)
            return fail(UCD_ERR__INVALID_ARG,
                        "params->struct_size is %u; it must be the size of the struct",
                        params->struct_size);
        ucd_ucx_pipeline_params_t known = {};
        std::memcpy(&known, params, std::min<std::size_t>(params->struct_size, sizeof known));
        Ledger::Limits budgets;
        UCD_UCX_TRY(read_budgets(info, budgets));
        return create_pipeline(worker, known, info, std::make_shared<Ledger>(budgets), nullptr,
                               pipeline);
    });
}

int ucd_ucx_pipeline_destroy(ucd_ucx_pipeline_t *pipeline) {
    return guard("ucd_ucx_pipeline_destroy", [&]() -> Status {
        UCD_UCX_TRY(require(pipeline, "pipeline"));
        UCD_UCX_TRY(require(*pipeline, "*pipeline"));
        std::size_t outstanding;
        {
            const std::lock_guard held((*pipeline)->lock);
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
    if (pipeline == UCD_UCX_PIPELINE__NULL) return 0;
    try {
        return pipeline->progress();
    } catch (const std::bad_alloc &) {
        return 1; // what needs no memory has been done
    }
}

int ucd_ucx_send_nbx(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, const void *buf, uintptr_t count,
                     ucd_type_t type, ucp_tag_t tag, const ucd_ucx_param_t *param,
                     ucd_ucx_request_t *request) {
    return guard("ucd_ucx_send_nbx", [&]() -> Status {
        UCD_UCX_TRY(check_sending(pipeline, ep, request));
        const std::lock_guard held(pipeline->lock); // outlives `sending`, whose destructor gives
                                                    // back blocks
        auto sending = std::make_unique<Sending>();
        UCD_UCX_TRY(sending->set(*pipeline, ep, {buf, count, type}, param, Matching::tag));
        return start_sending(
            *pipeline, std::move(sending), [&](Sending &s) { s.start_tagged(*pipeline, tag); },
            request);
    });
}

int ucd_ucx_am_send_nbx(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, unsigned id, const void *header,
                        size_t header_length, const void *buf, uintptr_t count, ucd_type_t type,
                        const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    return guard("ucd_ucx_am_send_nbx", [&]() -> Status {
        UCD_UCX_TRY(check_sending(pipeline, ep, request));
        if (header_length > 0) UCD_UCX_TRY(require(header, "header"));
        return send_active(*pipeline, ep, id, {static_cast<const char *>(header), header_length},
                           {buf, count, type}, param, {}, request);
    });
}

int ucd_ucx_recv_nbx(ucd_ucx_pipeline_t pipeline, void *buf, uintptr_t count, ucd_type_t type,
                     ucp_tag_t tag, ucp_tag_t tag_mask, const ucd_ucx_param_t *param,
                     ucd_ucx_request_t *request) {
    return guard("ucd_ucx_recv_nbx", [&]() -> Status {
        UCD_UCX_TRY(require(pipeline, "pipeline"));
        UCD_UCX_TRY(require(request, "request"));
        auto receiving = std::make_unique<Receiving>();
        const std::lock_guard held(pipeline->lock);
        UCD_UCX_TRY(receiving->set(*pipeline, {buf, count, type}, param));
        pipeline->transfers.add(*receiving);
        const Status status = receiving->start_tagged(*pipeline, tag, tag_mask);
        if (!status.ok()) {
            pipeline->transfers.remove(*receiving);
            return status;
        }
        *request = receiving.release();
        return success;
    });
}

int ucd_ucx_am_set_handler(ucd_ucx_pipeline_t pipeline, ucd_ucx_am_callback_t callback, void *arg) {
    return guard("ucd_ucx_am_set_handler", [&]() -> Status {
        UCD_UCX_TRY(require(pipeline, "pipeline"));
        const std::lock_guard held(pipeline->lock);
        pipeline->handler = callback;
        pipeline->handler_arg = arg;
        return success;
    });
}

int ucd_ucx_am_recv_nbx(ucd_ucx_pipeline_t pipeline, ucd_ucx_data_t data, void *buf,
                        uintptr_t count, ucd_type_t type, const ucd_ucx_param_t *param,
                        ucd_ucx_request_t *request) {
    return guard("ucd_ucx_am_recv_nbx", [&]() -> Status {
        UCD_UCX_TRY(require(pipeline, "pipeline"));
        UCD_UCX_TRY(require(data, "data"));
        UCD_UCX_TRY(require(request, "request"));
        return receive_active(*pipeline, data, {buf, count, type}, UCD_OP__REPLACE, param, {},
                              request);
    });
}

int ucd_ucx_am_drop(ucd_ucx_pipeline_t pipeline, ucd_ucx_data_t data) {
    return guard("ucd_ucx_am_drop", [&]() -> Status {
        UCD_UCX_TRY(require(pipeline, "pipeline"));
        UCD_UCX_TRY(require(data, "data"));
        const std::lock_guard held(pipeline->lock);
        reinterpret_cast<RecvMessage *>(data)->drop(*pipeline);
        return success;
    });
}

int ucd_ucx_cancel(ucd_ucx_pipeline_t pipeline, ucd_ucx_request_t request) {
    return guard("ucd_ucx_cancel", [&]() -> Status {
        UCD_UCX_TRY(require(pipeline, "pipeline"));
        UCD_UCX_TRY(require(request, "request"));
        const std::lock_guard held(pipeline->lock);
        pipeline->handle_endpoint_failures();
        request->cancel(*pipeline);
        return success;
    });
}

int ucd_ucx_lose_endpoint(ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, ucs_status_t status) {
    return guard("ucd_ucx_lose_endpoint", [&]() -> Status {
        UCD_UCX_TRY(require(pipeline, "pipeline"));
        UCD_UCX_TRY(require(ep, "ep"));
        if (status >= UCS_OK)
            return fail(UCD_ERR__INVALID_ARG, "status is %s; it must be an error",
                        ucs_status_string(status));
        pipeline->endpoint_failures.note(ep, status);
        return success;
    });
}
