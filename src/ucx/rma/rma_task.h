// One operation at its target, from its message until it is answered.
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

// Memory that is not touched before it is used.
struct FreeMemory {
    void operator()(char *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<char, FreeMemory>;

// Under the lock. A task ends itself. It holds what is charged for it.
class Task final : public DeviceWork {
public:
    Task(Target &target, ucd_ucx_window &window, const Request &request, WindowHandle handle,
         const ContentId &type_id, Delivery &&delivery, Charge charge);
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    // Its type is known.
    void set_type(TypePtr type) { type_ = std::move(type); }
    // Its type has come: these are the bytes.
    void receive_type(Delivery delivery);

    // It is its turn among the operations of its peer. False: it has to wait for room on the
    // account, or for the end of another transfer.
    bool start(Peer &peer);
    // It is the first in its window's queue.
    void take_turn();
    // Something is under way that needs it.
    bool at_work() const { return at_work_; }
    // Moves data of the host, as long as its peer may cause work in this call of progress.
    void move_pieces();

    void refuse(Verdict verdict, int ucd = UCD_SUCCESS);
    // Its origin is gone.
    void on_endpoint_failed();

    ucd_ucx_window &window() const { return window_; }
    ucp_ep_h ep() const { return ep_; }
    uint32_t number() const { return request_.number; }
    uint64_t since() const { return since_; }
    bool has_transfer() const { return has_transfer_; } // counts among its peer's
    std::list<Task>::iterator place;                    // among the target's
    Task *next = nullptr;                               // in a queue

private:
    // How data goes back: as one message, or in chunks.
    enum class AnswerForm : uint8_t { none, message, transfer };
    static void on_type(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *task);
    static void on_received(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *task);
    static void on_answered(ucd_ucx_request_t, const ucd_ucx_result_t *result, void *task);
    bool receive_type_in_chunks(Peer &peer);
    bool copy_type(std::string_view flattened);
    // What has become of a part of `start`.
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
    // The device's part that is under way.
    void moved(ucd_ucx_pipeline &, Status status) override;
    bool await_device(int rc);
    void send_data(const Data &data, ucd_info_t info);
    Answer result(Verdict verdict, int ucd = UCD_SUCCESS) const;

    Target &target_;
    ucd_ucx_window &window_;
    Request request_; // but for the type
    const WindowHandle handle_;
    const ContentId type_id_;
    Payload payload_;
    ucp_ep_h ep_; // null: there is nobody to answer
    const uint64_t since_;
    Charge charge_;              // of the task and what came with it
    Charge charge_of_type_;      // of a type's bytes
    Charge charge_of_transfers_; // and of what a window had
    Charge charge_of_answer_;    // with data, as one message
    TypePtr type_;
    Payload type_data_;      // a type that is to be received,
    Memory flattened_, old_; // and one that was; what a window had
    uint64_t flattened_bytes_ = 0;
    uint64_t bytes_ = 0; // of the packed stream
    uint64_t segments_ = 0;
    uint64_t granule_ = 1;
    uint64_t moved_ = 0; // of the bytes that the host moves
    bool is_checked_ = false, has_transfer_ = false;
    bool has_moves_ = false;   // or needs none
    bool takes_early_ = false; // it had its turn in the window's queue, and had to wait
    bool is_done_ = false;     // but for its answer
    bool at_work_ = false;
    bool unpacking_ = false; // that is what is done; else it fetches
};

} // namespace ucd_ucx::rma
