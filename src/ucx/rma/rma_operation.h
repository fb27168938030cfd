// An operation at its origin.
#pragma once

#include "common/linked_list.h"
#include "engine/device_queue.h"
#include "engine/request.h"
#include "rma/payload.h"
#include "rma/rma_arguments.h"

namespace ucd_ucx::rma {

class Origin;
struct EndpointOrder;

// An origin's use of a type on an endpoint.
struct TypeUse {
    uint32_t index = Request::no_index;
    bool confirmed = false; // an answer has confirmed that the index may be used
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
    TypeUse *introduced_ = nullptr; // the request gives the type its index
    Verdict verdict_ = Verdict::done;
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

} // namespace ucd_ucx::rma
