// An operation at its target, from its message until it is answered.
#pragma once

#include "rma/payload.h"
#include "rma/rma_message.h"
#include "rma/rma_operation.h"
#include "rma/rma_peer.h"
#include "rma/rma_window.h"
#include "types/known_types.h"

#include <list>
#include <memory>

namespace ucd_ucx::rma {

class Target;

// The caller holds the lock. A task deletes itself. It owns the charges for all that it keeps.
class Task final : public DeviceWork,
                   public TransferOwner,
                   public Linked<Task, Waiting>,
                   public Linked<Task, OfWindow> {
public:
    Task(Target &target, Peer &peer, const Request &request, ucd_ucx_window &window,
         WindowHandle handle, const ContentId &type_id, Payload &&payload, Charge charge);

    // The type of the operation is known.
    void set_type(TypePtr type) {
        type_ = std::move(type);
        state_ = TaskState::unchecked;
    }
    // The type has arrived.
    void receive_type(Payload type);

    // It is the task's turn among those of its peer. Returns false if the task has to wait for room
    // on the account, or for the end of another transfer.
    bool start();
    // The task is the first in its window's queue.
    void take_turn();
    // Something is in progress that uses the task.
    bool at_work() const {
        return state_ == TaskState::receiving_type || state_ == TaskState::fetching ||
               state_ == TaskState::receiving || state_ == TaskState::answering;
    }
    // Moves data, as long as the peer may cause work in this call of progress.
    void move_pieces();

    void refuse(Verdict verdict, int ucd = UCD_SUCCESS);

    ucd_ucx_window &window() const { return window_; }
    Peer &peer() const { return peer_; }
    ucp_ep_h ep() const { return peer_.ep(); }
    uint32_t number() const { return request_.number; }
    bool has_transfer() const { return has_transfer_; } // counts towards its peer's limit
    std::list<Task>::iterator place;                    // in its peer's list
    Task *next = nullptr;                               // link of the target's queue

private:
    // A task goes through these in their order, but may leave out some.
    enum class TaskState : uint8_t {
        needs_type,
        receiving_type, // in chunks
        unchecked,
        checked,
        takes_early, // has waited in the window's queue, so takes the charges for its moves before
                     // it enters again
        charged,     // has these charges
        fetching,    // the window's previous content is being copied
        receiving,   // the origin's data is being moved to the window
        done,        // except for its answer, which waits for room
        answering,   // in chunks
    };
    void enter(TaskState state);
    void transfer_ended(const ucd_ucx_request &, const Result &result) override;
    void copy_type(std::string_view flattened);
    // The result of a step of `start` or `take_turn`.
    enum class Step : uint8_t { done, waits, over };
    Step guarded(Step (Task::*step)());
    Step prepare();
    Step receive_type_in_chunks();
    Step learn();
    Step check();
    Step take_moves();
    bool take_place_of_transfer();
    bool take_answer();
    bool answers_in_chunks() const;
    void receive();
    void received(ucs_status_t status, int ucd);
    void fetch();
    void fetched(Status status);
    // The device has moved the data.
    void moved(Status status) override;
    void send_data(const Data &data, ucd_info_t info);
    Answer result(Verdict verdict, int ucd = UCD_SUCCESS) const;

    Target &target_;
    Peer &peer_;
    ucd_ucx_window &window_;
    Request request_; // except the type
    const WindowHandle handle_;
    const ContentId type_id_;
    Payload payload_;
    Charge charge_;              // for the task and its message
    Charge charge_of_type_;      // for the bytes of a flattened type
    Charge charge_of_transfers_; // and for the window's previous content
    Charge charge_of_answer_;    // for an answer with data in one message
    TypePtr type_;
    Payload type_data_;                       // a flattened type that is to be received
    std::unique_ptr<char[]> flattened_, old_; // that type; the window's previous content
    uint64_t flattened_bytes_ = 0;
    uint64_t bytes_ = 0; // of the packed stream
    uint64_t segments_ = 0;
    uint64_t granule_ = 1;
    uint64_t moved_ = 0; // bytes that the host has moved so far
    TaskState state_ = TaskState::needs_type;
    bool has_transfer_ = false;
};

} // namespace ucd_ucx::rma
