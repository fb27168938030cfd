#include "rma/payload.h"

namespace ucd_ucx::rma {

Status Payload::receive(const Data &to, ucd_op_t op, const ucd_ucx_param_t &param,
                        const TransferTerms &terms, ucd_ucx_request_t *request) {
    UCD_UCX_TRY(receive_active(*pipeline_, data_, to, op, &param, terms, request));
    data_ = nullptr;
    return success;
}

void Payload::keep() {
    if (lent_ == nullptr || here_.empty()) return;
    if (shares_message_) {
        message_ = lent_->copy_of(here_);
        here_ = message_->text();
    } else {
        const std::size_t at = static_cast<std::size_t>(here_.data() - lent_->text().data());
        message_ = lent_->take_over(false);
        here_ = message_->text().substr(at, here_.size());
    }
    lent_ = nullptr;
}

void Payload::drop() {
    lent_ = nullptr;
    message_.reset();
    if (data_ != nullptr) (void)ucd_ucx_am_drop(pipeline_, std::exchange(data_, nullptr));
}

} // namespace ucd_ucx::rma
