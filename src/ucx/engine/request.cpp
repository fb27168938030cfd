#include "engine/request.h"

#include "common/sized.h"

#include <algorithm>
#include <cstring>

using namespace ucd_ucx;

namespace {

ucd_ucx_result_t shown(const Result &r) {
    return {sizeof(ucd_ucx_result_t), r.status, r.ucd, r.bytes, r.tag};
}

} // namespace

Status ucd_ucx_request::set(const TransferOptions &defaults, const ucd_ucx_param_t *param,
                            ucd_info_t &info) {
    options_ = defaults;
    info = UCD_INFO__NULL;
    if (param == nullptr) return success;
    ucd_ucx_param_t known;
    UCD_TRY(read_sized(param, "param", known));
    callback_ = known.callback;
    user_data_ = known.user_data;
    info = known.info;
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

void ucd_ucx_request::tell() {
    if (callback_ != nullptr) {
        if (result_.status != UCS_OK) explain();
        const ucd_ucx_result_t result = shown(result_);
        callback_(this, &result, user_data_);
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
    const uint32_t size = result == nullptr ? sizeof *result : result->struct_size;
    if (size < sizeof size) {
        (void)fail(UCD_ERR__INVALID_ARG,
                   "result->struct_size is %u; it must be the size of the struct", size);
        prefix_failure("ucd_ucx_request_check");
        return UCS_ERR_INVALID_PARAM;
    }
    const bool is_null = request == UCD_UCX_REQUEST__NULL;
    if (!is_null && !request->is_complete()) return UCS_INPROGRESS;
    const Result ended = is_null ? Result() : request->result();
    if (ended.status != UCS_OK) request->explain();
    if (result != nullptr) {
        const ucd_ucx_result_t known = shown(ended);
        std::memcpy(result, &known, std::min<std::size_t>(size, sizeof known));
        result->struct_size = size;
    }
    return ended.status;
}

void ucd_ucx_request_free(ucd_ucx_request_t request) {
    if (request != UCD_UCX_REQUEST__NULL) request->let_go();
}
