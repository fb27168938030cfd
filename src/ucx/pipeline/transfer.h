// The common base of a transfer at its sender and at its receiver.
#pragma once

#include "engine/request.h"
#include "pipeline/transfers.h"

namespace ucd_ucx {

class Transfer : public ucd_ucx_request {
public:
    // Null if the user started it.
    TransferOwner *owner() const { return terms_.owner; }

protected:
    explicit Transfer(Transfers &transfers) : transfers_(transfers) {}

    Transfers &transfers_;
    TransferTerms terms_;
    ucs_status_t status_ = UCS_OK; // how it ends
    int ucd_ = UCD_SUCCESS;
    bool is_overdue_ = false; // it has failed by its time limit, and the user has been told
};

} // namespace ucd_ucx
