// An operation at its origin, and a flush, which waits for operations.
#pragma once

#include "common/linked_list.h"
#include "engine/device_queue.h"
#include "engine/request.h"
#include "rma/payload.h"
#include "rma/rma_arguments.h"

namespace ucd_ucx::rma {

class Origin;
struct EndpointOrder;

class RmaOperation;

// Waits for the operations to one endpoint, or to all, that were started before it.
class Flush final : public ucd_ucx_request {
public:
    // `started`: the number of operations so far, of which this one waits for `unfinished`.
    Flush(ucp_ep_h ep, uint64_t started, uint64_t unfinished)
        : ep_(ep), started_(started), unfinished_(unfinished) {}
    Status set(const ucd_ucx_param_t *param) {
        ucd_info_t info;
        return ucd_ucx_request::set({}, param, info);
    }
    void cancel() override {}
    bool awaits(const RmaOperation &operation) const;
    // Returns true for the last one.
    bool one_ended(const Result &result) {
        if (failure_.status == UCS_OK) failure_ = {result.status, result.ucd, 0, 0};
        return --unfinished_ == 0;
    }
    const Result &failure() const { return failure_; }

private:
    const ucp_ep_h ep_; // null: all
    const uint64_t started_;
    uint64_t unfinished_;
    Result failure_; // of the first operation that failed
};

// The caller holds the lock, except for the functions where ucd_ucx_request says otherwise.
class RmaOperation final : public ucd_ucx_request,
                           public DeviceWork,
                           public TransferOwner,
                           public Linked<RmaOperation> {
public:
    RmaOperation(Origin &origin, EndpointOrder &of) : lane(of), origin_(origin) {}
    Status set(const RmaArguments &arguments);
    // Whether the program trusts the target in this operation.
    bool trusts() const { return options_.direct != Trust::none; }
    // Sends the operation. If it fails, nothing is in progress.
    Status start();
    void cancel() override {}
    void explain() const override;

    // Takes over the payload if it is needed for longer.
    void answered(Delivery &delivery);
    void type_asked_for();
    // Ends the operation with this status as soon as no transfer uses its memory.
    void fail(ucs_status_t status, int ucd);
    // Ends the operation if the target has taken too long. While data moves in chunks, the time
    // limit is that of the transfer, which sees each chunk.
    void check_time();

    EndpointOrder &lane;
    uint32_t number = 0;
    uint64_t order = 0; // the number of operations that were started up to this one
    CheckedArguments arguments;

private:
    enum class OperationState : uint8_t {
        waiting,      // for the answer
        sending_type, // same; the target has asked for the type
        over,         // answered or failed; transfers may still use its memory
    };
    Status send(const Encoded &message, const Data &data, uint64_t bytes, const char *contiguous);
    void receive_here(Payload &payload);
    void moved(Status status) override;
    void transfer_ended(const ucd_ucx_request &transfer, const Result &result) override;
    void transferred(ucs_status_t status, int ucd);
    void conclude();

    Origin &origin_;
    unsigned transfers_ = 0;               // the number of transfers in progress
    ucd_ucx_request *receiving_ = nullptr; // a transfer
    Payload unpacking_;                    // data that a device is unpacking
    OperationState state_ = OperationState::waiting;
    bool introduces_type_ = false; // the request gives the type its index
    Verdict verdict_ = Verdict::done;
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

} // namespace ucd_ucx::rma
