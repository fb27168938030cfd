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
    // Ends it with this status, as soon as nothing of it is in progress.
    virtual void stop(ucs_status_t status, int ucd) = 0;
    // Ends it if nothing has moved from or to the endpoint for longer than its time limit.
    void check_time(ucp_ep_h ep) {
        if (is_overdue_ || !has_timed_out()) return;
        stop(UCS_ERR_TIMED_OUT, UCD_SUCCESS);
        is_overdue_ = true;
        // UCX cannot cancel what it sends or writes, so the buffer is still in use.
        if (!is_complete()) transfers_.engine.report_unresponsive(ep);
    }

    Transfers &transfers_;
    TransferTerms terms_;
    ucs_status_t status_ = UCS_OK; // how it ends
    int ucd_ = UCD_SUCCESS;

private:
    bool is_overdue_ = false; // it has failed by its time limit, and the user has been told
};

} // namespace ucd_ucx
