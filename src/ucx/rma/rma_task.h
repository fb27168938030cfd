// An operation at its target, from its message until it is answered.
#pragma once

#include "rma/payload.h"
#include "rma/rma_message.h"
#include "rma/rma_operation.h"
#include "rma/rma_peer.h"
#include "rma/rma_types.h"
#include "rma/rma_window.h"

#include <cstdlib>
#include <list>
#include <memory>

namespace ucd_ucx::rma {

class Target;

// Memory from malloc, which is not initialised.
struct FreeMemory {
    void operator()(char *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<char, FreeMemory>;

// The caller holds the lock. A task deletes itself. It owns the charges for all that it keeps.
class Task final : public DeviceWork {
public:
    Task(Target &target, ucd_ucx_window &window, const Request &request, WindowHandle handle,
         const ContentId &type_id, Delivery &&delivery, Charge charge);
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    // The type of the operation is known.
    void set_type(TypePtr type) { type_ = std::move(type); }
    // The type has arrived in this message.
    void receive_type(Delivery delivery);

    // It is the task's turn among those of its peer. Returns false if the task has to wait for room
    // on the account, or for the end of another transfer.
    bool start(Peer &peer);
    // The task is the first in its window's queue.
    void take_turn();
    // Something is in progress that uses the task.
    bool at_work() const { return at_work_; }
    // Moves data in host memory, as long as the peer may cause work in this call of progress.
    void move_pieces();

    void refuse(Verdict verdict, int ucd = UCD_SUCCESS);
    // The origin's endpoint has failed.
    void on_endpoint_failed();

    ucd_ucx_window &window() const { return window_; }
    ucp_ep_h ep() const { return ep_; }
    uint32_t number() const { return request_.number; }
    uint64_t since() const { return since_; }
    bool has_transfer() const { return has_transfer_; } // counts towards its peer's limit
    std::list<Task>::iterator place;                    // in the target's list
    Task *next = nullptr;                               // link of a queue

private:
    // How data is returned: in one message, or in chunks.
    enum class AnswerForm : uint8_t { none, message, transfer };
    static void on_type(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *task);
    static void on_received(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *task);
    static void on_answered(ucd_ucx_request_t, const ucd_ucx_result_t *result, void *task);
    bool receive_type_in_chunks(Peer &peer);
    bool copy_type(std::string_view flattened);
    // The result of a step of `start`.
    enum class Step : uint8_t { done, waits, over };
    Step learn(Peer &peer);
    Step check();
    Step take_moves(Peer &peer);
    bool take_place_of_transfer(Peer &peer);
    bool take_answer(Peer &peer);
    AnswerForm form_of_answer() const;
    void receive();
    void received(const ucd_ucx_result_t &result);
    void fetch();
    void fetched(Status status);
    // The device has moved the data.
    void moved(ucd_ucx_pipeline &, Status status) override;
    bool await_device(int rc);
    void send_data(const Data &data, ucd_info_t info);
    Answer result(Verdict verdict, int ucd = UCD_SUCCESS) const;

    Target &target_;
    ucd_ucx_window &window_;
    Request request_; // except the type
    const WindowHandle handle_;
    const ContentId type_id_;
    Payload payload_;
    ucp_ep_h ep_; // null: it has failed, so no answer is sent
    const uint64_t since_;
    Charge charge_;              // for the task and its message
    Charge charge_of_type_;      // for the bytes of a flattened type
    Charge charge_of_transfers_; // and for the window's previous content
    Charge charge_of_answer_;    // for an answer with data in one message
    TypePtr type_;
    Payload type_data_;      // a flattened type that is to be received
    Memory flattened_, old_; // a received flattened type; the window's previous content
    uint64_t flattened_bytes_ = 0;
    uint64_t bytes_ = 0; // of the packed stream
    uint64_t segments_ = 0;
    uint64_t granule_ = 1;
    uint64_t moved_ = 0; // bytes that the host has moved so far
    bool is_checked_ = false, has_transfer_ = false;
    bool has_moves_ = false;   // has the charges for its moves
    bool takes_early_ = false; // has waited in the window's queue, so takes the charges before it
                               // enters again
    bool is_done_ = false;     // except for its answer
    bool at_work_ = false;
    bool unpacking_ = false; // whether the host unpacks or fetches
};

} // namespace ucd_ucx::rma
