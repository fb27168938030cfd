// An operation at its target, from its message until it is answered.
#pragma once

#include "rma/payload.h"
#include "rma/rma_message.h"
#include "rma/rma_operation.h"
#include "rma/rma_peer.h"
#include "rma/rma_window.h"
#include "types/known_types.h"

#include <memory>
#include <optional>
#include <vector>

namespace ucd_ucx::rma {

class Target;
struct Found;

// The caller holds the lock. It owns the charges for all that it keeps.
class Task final : public DeviceWork,
                   public TransferOwner,
                   public Linked<Task, Waiting>,
                   public Linked<Task, InTurn>,
                   public Linked<Task, OfWindow>,
                   public Linked<Task, OfPeer> {
public:
    Task(Target &target, Peer &peer, const Request &request, Found &&found, Payload &&payload,
         Charge charge);
    ~Task();

    // The type has arrived.
    void receive_type(Payload type);

    // It is the task's turn among those of its peer. Returns false if the task has to wait for room
    // on the account, or for the end of another transfer.
    bool start();
    // The task is the first in its window's queue.
    void take_turn();
    bool needs_type() const { return state_ == TaskState::needs_type; }
    // The task uses its window's memory, or receives its type.
    bool at_work() const {
        return state_ == TaskState::receiving_type || state_ == TaskState::fetching ||
               state_ == TaskState::receiving || state_ == TaskState::answering;
    }
    // Something is in progress that will call the task.
    bool is_awaited() const { return at_work() && !LinkedList<Task, Waiting>::has_list(*this); }
    // Answers and ends the operation.
    void finish(Verdict verdict, int ucd = UCD_SUCCESS);

    ucd_ucx_window &window() const { return window_; }
    Peer &peer() const { return peer_; }
    ucp_ep_h ep() const { return peer_.ep(); }
    uint32_t number() const { return request_.number; }

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
    void transfer_ended(const ucd_ucx_request &, const Result &result) override {
        ended(result.status, result.ucd);
    }
    // The device has moved the data.
    void moved(Status status) override { ended(ucx_status_of(status.code()), status.code()); }
    // What was in progress has ended.
    void ended(ucs_status_t status, int ucd);
    // The verdict of a step, or nothing if the task has to wait.
    using Step = std::optional<Verdict>;
    Step prepare();
    Step receive_type_in_chunks();
    Step learn();
    Step check();
    Step take_moves();
    bool take_place_of_transfer();
    bool answers_in_chunks() const;
    void receive();
    void move_pieces();
    bool send_data();
    Data window_data(const BufferHints &hints) const {
        return {window_.at(request_.displacement), request_.count, type_->type.get(), &hints};
    }
    Answer result(Verdict verdict, int ucd = UCD_SUCCESS) const {
        return {verdict, static_cast<uint8_t>(ucd), request_.number, handle_};
    }

    Target &target_;
    Peer &peer_;
    ucd_ucx_window &window_;
    Request request_; // except the type
    const WindowHandle handle_;
    ContentId type_id_; // zeros until the type comes, if its index was never used
    Payload payload_;
    Charge charge_;              // for the task and its message
    Charge charge_of_type_;      // for the bytes of a flattened type
    Charge charge_of_transfers_; // and for the window's previous content
    TypePtr type_;
    Payload type_data_;           // a flattened type that is to be received
    std::vector<char> flattened_; // that type
    std::unique_ptr<char[]> old_; // the window's previous content
    uint64_t bytes_ = 0;          // of the packed stream
    uint64_t segments_ = 0;
    uint64_t granule_ = 1;
    uint64_t moved_ = 0; // bytes that the host has moved so far
    TaskState state_ = TaskState::needs_type;
    bool has_transfer_ = false; // counts towards its peer's limit
};

} // namespace ucd_ucx::rma
