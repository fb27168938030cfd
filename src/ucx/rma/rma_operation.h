// An operation at its origin, and a flush, which waits for operations.
#pragma once

#include "engine/device_queue.h"
#include "engine/request.h"
#include "rma/payload.h"
#include "rma/rma_message.h"
#include "types/known_types.h"

#include <memory>
#include <ucd_ucx_rma.h>
#include <vector>

namespace ucd_ucx::rma {

class Origin;
struct EndpointOrder;

// The arguments of an operation. Those that it does not have keep their defaults.
struct RmaArguments {
    Verb verb;
    ucp_ep_h ep;
    Data sent, received;
    const ucd_ucx_window_key_t *key;
    intptr_t displacement;
    Data target; // has no buffer
    ucd_op_t op = UCD_OP__REPLACE;
    const ucd_ucx_param_t *param;
};

// An operation that an endpoint may repeat, with other buffers, at another displacement, and with
// another callback. Its arguments are checked, and its request is encoded, except for the number
// and the displacement. The types keep their handles from being used for other types.
struct RepeatedOperation {
    // Whether the arguments are the same, and are accompanied by no info.
    bool has(const RmaArguments &arguments) const;

    TypePtr type;                     // null if there is no operation
    TypePtr sent_type, received_type; // null if they are the same one
    ucd_ucx_window_key_t key = {};
    Data sent, received, target; // with the user's handles of types; without buffers and hints
    ucd_op_t op = UCD_OP__REPLACE;
    ContentId window = {};
    uint64_t bytes = 0, sent_bytes = 0, granule = 1;
    Encoded request{Preamble()};
};

class Flush final : public ucd_ucx_request {
public:
    Status set(const TransferOptions &options, const ucd_ucx_param_t *param);
    void cancel() override {}
    void await_one() { ++remaining_; }
    bool awaits_any() const { return remaining_ > 0; }
    // Returns true for the last one.
    bool one_ended(const Result &result);

private:
    uint64_t remaining_ = 0;
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

// The caller holds the lock, except for the functions where ucd_ucx_request says otherwise.
class RmaOperation final : public ucd_ucx_request, public DeviceWork, public TransferOwner {
public:
    explicit RmaOperation(Origin &origin) : origin_(origin) {}
    static void *operator new(std::size_t bytes);
    static void operator delete(void *memory);
    Status set(const RmaArguments &arguments);
    // Same, if the operation was done before on this endpoint.
    Status set(const RmaArguments &arguments, const RepeatedOperation &before);
    // For an operation that starts after the call returns: keeps its own copies of the arguments.
    Status hold();
    // Sends the operation. If it fails, nothing is in progress. `given`: the user's arguments, if
    // the operation may be repeated.
    Status start(EndpointOrder &lane, const RmaArguments *given);
    Status start(EndpointOrder &lane, const RepeatedOperation &before);
    void cancel() override {}
    void explain() const override;
    // It was done directly when it started.
    bool is_over() const { return state_ == OperationState::over; }
    Result direct_result() const { return {status_, ucd_, status_ == UCS_OK ? bytes_ : 0, 0}; }

    // Takes over the payload if it is needed for longer.
    void answered(const Answer &answer, Payload &payload);
    void type_asked_for();
    // Ends the operation with this status as soon as no transfer uses its memory.
    void fail(ucs_status_t status, int ucd);
    // Ends the operation if the target has taken too long. While data moves in chunks, the time
    // limit is that of the transfer, which sees each chunk.
    void check_time();

    ucp_ep_h ep() const { return arguments_.ep; }
    EndpointOrder *lane = nullptr; // set once the operation is started
    uint64_t since() const { return since_; }
    uint32_t number = 0;
    std::size_t timed_place = 0; // among the origin's operations that have a time limit
    std::vector<Flush *> flushes;

private:
    enum class OperationState : uint8_t {
        waiting,      // for the answer
        sending_type, // same; the target has asked for the type
        answered,     // its data may still be received
        failed,       // waits for transfers that use its memory
        over,         // done directly
    };
    Status keep_received_type();
    bool is_done_directly();
    void note_for_repetition(const RmaArguments &given, const Encoded &request,
                             RepeatedOperation &repeated);
    Status check_data(const Data &data);
    Status find_hints_of(Data &data, ucd_info_t info, TransferDirection direction,
                         std::unique_ptr<const BufferHints> &made);
    Status check_element();
    Status check_op();
    Status send(const Encoded &message, const Data &data, uint64_t bytes, uint64_t granule);
    const char *contiguous_of(const Data &data) const;
    void receive_here(Payload &payload);
    void moved(Status status) override;
    void transfer_ended(const ucd_ucx_request &transfer, const Result &result) override;
    void transferred(ucs_status_t status, int ucd);
    void conclude();

    Origin &origin_;
    RmaArguments arguments_ = {};
    OwnedType held_type_, received_type_;
    std::unique_ptr<const BufferHints> sent_hints_, received_hints_; // if the operation has hints
                                                                     // of its own
    OwnedInfo info_;
    bool has_info_ = false;
    TypePtr type_;
    ContentId window_ = {};
    uint32_t type_index_ = Request::no_index; // of the type that the request introduces
    uint64_t bytes_ = 0;                      // of the packed stream
    uint64_t sent_bytes_ = 0;                 // of these, the bytes that are sent: all or none
    uint64_t granule_ = 1;
    uint64_t since_ = 0;
    unsigned transfers_ = 0;               // the number of transfers in progress
    ucd_ucx_request *receiving_ = nullptr; // a transfer
    Payload unpacking_;                    // data that a device is unpacking
    OperationState state_ = OperationState::waiting;
    Verdict verdict_ = Verdict::done;
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

} // namespace ucd_ucx::rma
