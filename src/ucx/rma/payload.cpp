#include "rma/payload.h"

#include "pipeline/recv_message.h"

namespace ucd_ucx::rma {

Payload::Payload(Transfers &transfers, RecvMessage &transfer)
    : transfers_(&transfers), transfer_(&transfer), bytes_(transfer.total()) {}

Status Payload::receive(const Data &to, ucd_op_t op, ucd_info_t info, const TransferTerms &terms,
                        ucd_ucx_request_t *transfer) {
    const ucd_ucx_param_t param = {sizeof param, info, nullptr, nullptr};
    UCD_TRY(transfers_->receive_active(*transfer_, to, op, &param, terms, transfer));
    (void)transfer_.release();
    return success;
}

void Payload::keep() {
    if (lent_ == nullptr || here_.empty()) return;
    if (shares_message_) {
        message_ = lent_->copy_of(here_);
        here_ = message_->data();
    } else {
        const std::size_t at = static_cast<std::size_t>(here_.data() - lent_->data().data());
        message_ = lent_->take_over();
        here_ = message_->data().substr(at, here_.size());
    }
    lent_ = nullptr;
}

void Payload::Abandon::operator()(RecvMessage *transfer) const {
    transfer->abandon();
}

} // namespace ucd_ucx::rma
