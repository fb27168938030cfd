#include "engine/request.h"

#include <cstring>

using namespace ucd_ucx;

Status ucd_ucx_request::set(const TransferOptions &defaults, const ucd_ucx_param_t *param,
                            ucd_info_t &info) {
    options_ = defaults;
    info = UCD_INFO__NULL;
    if (param == nullptr) return success;
    if (param->struct_size < sizeof param->struct_size)
        return fail(UCD_ERR__INVALID_ARG,
                    "param->struct_size is %u; it must be the size of the struct",
                    param->struct_size);
    ucd_ucx_param_t known = {};
    if (param->struct_size < sizeof known) { // the program was built with an earlier header
        std::memcpy(&known, param, param->struct_size);
        param = &known;
    }
    callback_ = param->callback;
    user_data_ = param->user_data;
    info = param->info;
    return read_transfer_options(info, options_);
}

void ucd_ucx_request::explain() const {
    if (result_.ucd == UCD_SUCCESS)
        (void)fail(UCD_ERR__DEVICE, "the transfer ended with: %s",
                   ucs_status_string(result_.status));
    else
        (void)fail(result_.ucd, "the transfer ended with: %s (%s)",
                   ucs_status_string(result_.status), ucd_strerror(result_.ucd));
}

void ucd_ucx_request::tell(const UserHandler &) {
    if (callback_ != nullptr) {
        if (result_.status != UCS_OK) explain();
        callback_(this, &result_, user_data_);
    }
    let_go();
}

void ucd_ucx_request::let_go() {
    // The last holder need not decrement the count, since nobody else can see it.
    if (holders_.load(std::memory_order_acquire) == 1 ||
        holders_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete this;
}

ucs_status_t ucd_ucx_request_check(ucd_ucx_request_t request, ucd_ucx_result_t *result) {
    static constexpr ucd_ucx_result_t empty = {UCS_OK, UCD_SUCCESS, 0, 0};
    if (request == UCD_UCX_REQUEST__NULL) {
        if (result != nullptr) *result = empty;
        return UCS_OK;
    }
    if (!request->is_complete()) return UCS_INPROGRESS;
    if (request->result().status != UCS_OK) request->explain();
    if (result != nullptr) *result = request->result();
    return request->result().status;
}

void ucd_ucx_request_free(ucd_ucx_request_t request) {
    if (request != UCD_UCX_REQUEST__NULL) request->let_go();
}
